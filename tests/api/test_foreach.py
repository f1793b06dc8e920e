"""torch._foreach_*: one operator on each tensor of a list, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

FIRST = [np.array([[0.25, 0.5], [0.75, 0.125]]), np.array([0.5, 0.875, 0.0625])]
SECOND = [np.array([[0.5, 2.0], [1.0, 3.0]]), np.array([0.25, 1.5, 4.0])]
THIRD = [np.array([[1.0, 3.0], [2.0, 0.5]]), np.array([2.0, 0.5, 1.0])]

BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "pow": np.power,
}
UNARY: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "exp": np.exp,
    "neg": np.negative,
    "reciprocal": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": np.sign,
    "sqrt": np.sqrt,
}


def tensors(module: Any, arrays: list[Any]) -> list[Any]:
    return [module.tensor(array) for array in arrays]


def check(module: Any, name: str, want: list[Any], *args: Any, **kwargs: Any) -> None:
    """Both forms: the plain one gives a tuple, the one in place the list that it got."""
    given = tensors(module, FIRST)
    for result in (
        getattr(module, f"_foreach_{name}")(given, *args, **kwargs),
        getattr(module, f"_foreach_{name}_")(given, *args, **kwargs),
    ):
        assert isinstance(result, tuple) or result is given
        for got, expected in zip(result, want, strict=True):
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", UNARY)
def test_unary(module: Any, name: str) -> None:
    check(module, name, [UNARY[name](x) for x in FIRST])


@pytest.mark.parametrize("name", BINARY)
def test_second_operand(module: Any, name: str) -> None:
    f = BINARY[name]
    check(module, name, [f(x, y) for x, y in zip(FIRST, SECOND, strict=True)], tensors(module, SECOND))
    check(module, name, [f(x, 0.5) for x in FIRST], 0.5)
    check(module, name, [f(x, y) for x, y in zip(FIRST, (0.5, 2.0), strict=True)], [0.5, 2.0])


def test_alpha_and_scalar_tensors(module: Any) -> None:
    check(module, "add", [x + 2 * y for x, y in zip(FIRST, SECOND, strict=True)], tensors(module, SECOND), alpha=2)
    check(module, "mul", [x * 3 for x in FIRST], module.tensor(3.0))


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_products_and_quotients_added(module: Any, name: str) -> None:
    f = np.multiply if name == "addcmul" else np.divide
    rest = tensors(module, SECOND), tensors(module, THIRD)

    def want(values: tuple[float, float]) -> list[Any]:
        return [x + v * f(y, z) for x, v, y, z in zip(FIRST, values, SECOND, THIRD, strict=True)]

    check(module, name, want((1, 1)), *rest)
    check(module, name, want((2, 2)), *rest, 2)
    check(module, name, want((2, 2)), *rest, value=2)
    check(module, name, want((2, 3)), *rest, [2, 3])
    check(module, name, want((2, 3)), *rest, module.tensor([2, 3]))


def test_lerp(module: Any) -> None:
    want = [x + 0.25 * (y - x) for x, y in zip(FIRST, SECOND, strict=True)]
    check(module, "lerp", want, tensors(module, SECOND), 0.25)
    check(module, "lerp", want, tensors(module, SECOND), weight=0.25)
    check(module, "lerp", want, tensors(module, SECOND), [0.25, 0.25])


def test_the_rest(module: Any) -> None:
    a = tensors(module, FIRST)
    np.testing.assert_allclose([n.item() for n in module._foreach_norm(a)], [np.linalg.norm(x) for x in FIRST])
    np.testing.assert_allclose([n.item() for n in module._foreach_norm(a, 1)], [np.abs(x).sum() for x in FIRST])
    assert [m.item() for m in module._foreach_max(a)] == [x.max() for x in FIRST]
    powers = module._foreach_pow(2.0, a)
    np.testing.assert_allclose(powers[1].numpy(), 2 ** FIRST[1])
    copies = module._foreach_clone(a)
    module._foreach_zero_(a)
    assert not a[0].any() and copies[0].numpy().tolist() == FIRST[0].tolist()
    assert module._foreach_copy_(a, copies) is a
    assert a[1].equal(copies[1])


def test_derivatives(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    y = module.full((3,), 2.0, requires_grad=True)
    a, b = module._foreach_mul([x, y], [3.0, 4.0])
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [3, 3] and y.grad.tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t, x: t._foreach_add([], 1), RuntimeError, "must have at least one tensor"),
        (lambda t, x: t._foreach_add([x], [x, x]), RuntimeError, "same number of tensors, got 1 and 2"),
        (lambda t, x: t._foreach_add([x], [1.0, 2.0]), RuntimeError, "same number of elements as scalar list"),
        (lambda t, x: t._foreach_add([x], x), RuntimeError, "expected to be 0 dim but it has 1 dimensions"),
        (lambda t, x: t._foreach_add(x, 1), TypeError, "_foreach_add"),
    ],
)
def test_errors(module: Any, call: Callable[..., Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(module, module.ones(2))
