"""Parametrized tensors, weight and spectral normalization among them (the older form: test_weight_norm.py)."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest


@pytest.fixture
def parametrize(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.nn.utils.parametrize")


@pytest.fixture
def parametrizations(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.nn.utils.parametrizations")


@pytest.fixture
def Symmetric(module: Any) -> Any:
    class Symmetric(module.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).t()

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric


def test_a_tensor_is_computed_and_trained(module: Any, parametrize: Any, Symmetric: Any) -> None:
    layer = module.nn.Linear(3, 3)
    parameter = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, module.nn.Linear)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is parameter
    assert layer.weight.tolist() == layer.weight.t().tolist()
    layer(module.ones(1, 3)).sum().backward()
    assert parameter.grad.tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    layer.weight = module.ones(3, 3)
    assert parameter.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    twin = copy.deepcopy(layer)
    assert twin.weight.tolist() == layer.weight.tolist()
    assert twin.parametrizations.weight.original is not parameter
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)


def test_parametrizations_stack_and_go(module: Any, parametrize: Any, Symmetric: Any) -> None:
    class Double(module.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return 2 * x

    layer = module.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Double())
    assert layer.weight.tolist() == (2 * before).tolist()
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is module.nn.Linear
    with pytest.raises(RuntimeError, match="right_inverse"):
        layer.weight = before
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is module.nn.Linear
    assert layer.weight.tolist() == (2 * before).tolist()
    assert isinstance(layer.weight, module.nn.Parameter)


def test_what_is_refused(module: Any, parametrize: Any, parametrizations: Any, Symmetric: Any) -> None:
    layer = module.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(layer, "none", Symmetric())
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", module.nn.Flatten(0))
    parametrizations.weight_norm(layer)
    with pytest.raises(ValueError, match="sequence of tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)


def test_weight_norm(module: Any, parametrize: Any, parametrizations: Any) -> None:
    old = module.nn.utils.weight_norm(module.nn.Linear(2, 2))
    assert list(old.state_dict()) == ["bias", "weight_g", "weight_v"]
    with module.no_grad():
        old.weight_v.copy_(module.tensor([[3.0, 4.0], [0.0, 2.0]]))
        old.weight_g.copy_(module.tensor([[10.0], [1.0]]))
    out = old(module.ones(1, 2))
    assert (out - old.bias).flatten().tolist() == pytest.approx([14.0, 1.0])
    assert old.weight.flatten().tolist() == pytest.approx([6.0, 8.0, 0.0, 1.0])
    out.sum().backward()
    assert old.weight_g.grad.flatten().tolist() == pytest.approx([1.4, 1.0])
    new = parametrizations.weight_norm(module.nn.Linear(2, 2))
    assert list(new.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    new.load_state_dict(old.state_dict())  # names of the older form
    assert new.weight.tolist() == old.weight.tolist()
    for layer in (module.nn.utils.remove_weight_norm(old), parametrize.remove_parametrizations(new, "weight")):
        assert list(layer.state_dict()) in (["bias", "weight"], ["weight", "bias"])
        assert layer.weight.flatten().tolist() == pytest.approx([6.0, 8.0, 0.0, 1.0])
    whole = module.nn.utils.weight_norm(module.nn.Linear(2, 2), dim=None)
    assert whole.weight_g.shape == ()


@pytest.mark.parametrize("layer", ["Linear(4, 3)", "Conv2d(4, 3, 2)", "ConvTranspose1d(4, 3, 2)"])
def test_spectral_norm(module: Any, parametrizations: Any, layer: str) -> None:
    made = eval(layer, {n: getattr(module.nn, n) for n in (layer.split("(")[0],)})
    x = module.ones(2, 4, *(5,) * (made.weight.ndim - 2))
    rows = 1 if "Transpose" in layer else 0
    old = module.nn.utils.spectral_norm(copy.deepcopy(made), n_power_iterations=50)
    old(x)
    new = parametrizations.spectral_norm(copy.deepcopy(made), n_power_iterations=50)
    for weight in (old.weight, new.weight):
        largest = module.linalg.svdvals(weight.detach().movedim(rows, 0).flatten(1))[0].item()
        assert largest == pytest.approx(1.0, rel=1e-4)
    new(x).sum().backward()
    assert new.parametrizations.weight.original.grad is not None
    assert set(old.state_dict()) == {"bias", "weight_orig", "weight_u", "weight_v"}
    old.eval()
    before = old.weight_u.tolist()
    old(x)
    assert old.weight_u.tolist() == before
    module.nn.utils.remove_spectral_norm(old)
    assert old.weight.flatten().tolist() == pytest.approx(new.weight.flatten().tolist(), rel=1e-3, abs=1e-5)


def test_spectral_norm_draws_what_pytorch_draws(module: Any, parametrizations: Any) -> None:
    module.manual_seed(0)
    layer = parametrizations.spectral_norm(module.nn.Linear(2, 2))
    assert layer.weight.flatten().tolist() == pytest.approx([-0.00642, 0.460015, -0.705784, -0.631088], abs=1e-6)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("use_trivialization", [True, False])
def test_orthogonal(
    module: Any, parametrizations: Any, shape: tuple[int, int], orthogonal_map: str | None, use_trivialization: bool
) -> None:
    def product(w: Any) -> Any:
        return w.mT @ w if w.shape[0] >= w.shape[1] else w @ w.mT

    eye = module.eye(min(shape), dtype=module.float64)
    module.manual_seed(0)
    layer = module.nn.Linear(*shape, dtype=module.float64)
    parametrizations.orthogonal(layer, "weight", orthogonal_map, use_trivialization=use_trivialization)
    names = ["bias", "parametrizations.weight.original", "parametrizations.weight.0.base"]
    assert list(layer.state_dict()) == names[: 2 + use_trivialization]
    optimizer = module.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        before = layer.weight.detach()
        assert module.allclose(product(before), eye)
        optimizer.zero_grad()
        layer(module.arange(float(shape[0]), dtype=module.float64)).pow(2).sum().backward()
        optimizer.step()
        assert not module.equal(layer.weight, before)
    wanted = module.linalg.qr(module.arange(25.0, dtype=module.float64).sin().reshape(5, 5))[0]
    wanted = module.linalg.qr(wanted[: max(shape), : min(shape)])[0]
    wanted = wanted if shape[1] >= shape[0] else wanted.mT
    householder = orthogonal_map == "householder" or (orthogonal_map is None and shape[0] != shape[1])
    if use_trivialization or householder:
        layer.weight = wanted
        assert module.allclose(layer.weight, wanted)
    else:
        with pytest.raises(NotImplementedError, match="not possible to assign"):
            layer.weight = wanted


def test_orthogonal_refuses(module: Any, parametrizations: Any) -> None:
    layer = module.nn.Linear(3, 3)
    for arguments, message in (
        (("bias",), "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions."),
        (("other",), "has no parameter or buffer with name 'other'"),
        (("weight", "qr"), "orthogonal_map has to be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            parametrizations.orthogonal(layer, *arguments)
    with pytest.raises(ValueError, match="does not support complex"):
        parametrizations.orthogonal(module.nn.Linear(3, 3, dtype=module.complex64), "weight", "householder")
