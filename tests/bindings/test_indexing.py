"""a[key]: values set against NumPy's on random keys, views, gradients, errors."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

SHAPES = [(4,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (0, 3), (2, 0, 3)]


def basic_index(r: random.Random, size: int) -> Any:
    """An int or a slice for a dimension."""
    if size and r.random() < 0.5:
        return r.randrange(-size, size)
    bounds = [r.choice([None, r.randint(-size - 2, size + 2)]) for _ in range(2)]
    return slice(*bounds, r.choice([None, 1, 2, 3]))


def array_index(r: random.Random, size: int) -> Any:
    """Indices, as a list or an array of one or two dimensions, or a mask."""
    if size == 0 or r.random() < 0.3:
        return np.array([r.random() < 0.5 for _ in range(size)], dtype=bool)
    shape = r.choice([(2,), (1,), (2, 2)])
    indices = np.array([r.randrange(-size, size) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return r.choice([indices, indices.tolist()])


def random_key(r: random.Random, shape: tuple[int, ...], arrays: bool) -> tuple[Any, ...]:
    dims = r.randint(0, len(shape))
    masked = -1
    key: list[Any] = []
    for d in range(dims):
        if arrays and r.random() < 0.5 and masked < 0:
            # NumPy reads ints beside arrays as arrays, PyTorch selects first: one array, and no int beside it.
            key.append(array_index(r, shape[d]))
            masked = d
        elif arrays:
            key.append(slice(r.choice([None, 0, 1]), None))
        else:
            key.append(basic_index(r, shape[d]))
    for _ in range(r.choice([0, 0, 1, 2])):
        key.insert(r.randint(0, len(key)), None)
    if not arrays and r.random() < 0.2:
        key.append(...)
    return tuple(key)


def to_module(module: Any, key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(module.from_numpy(k) if isinstance(k, np.ndarray) else k for k in key)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("arrays", [False, True])
def test_as_numpy(module: Any, shape: tuple[int, ...], arrays: bool) -> None:
    r = random.Random(0)
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    t = module.from_numpy(array)
    leaf = module.tensor(array, requires_grad=True)
    for _ in range(150):
        key = random_key(r, shape, arrays)
        expected = array[key]
        for source in (t, leaf):
            result = source[to_module(module, key)]
            assert result.shape == expected.shape, key
            assert result.tolist() == expected.tolist(), key
        if not arrays:
            assert np.shares_memory(t[key].numpy(), array) or expected.size == 0, key


@pytest.mark.parametrize("arrays", [False, True])
def test_gradient_counts_uses(module: Any, arrays: bool) -> None:
    r = random.Random(1)
    shape = (2, 3, 4)
    positions = np.arange(24).reshape(shape)
    for _ in range(60):
        key = random_key(r, shape, arrays)
        leaf = module.tensor(np.zeros(shape, np.float32), requires_grad=True)
        leaf[to_module(module, key)].sum().backward()
        uses = np.bincount(positions[key].ravel(), minlength=24).reshape(shape)
        assert leaf.grad.tolist() == uses.tolist(), key


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ("[0, 1], [0, 1]", (2, 4)),
        ("[0, 1], :, [0, 1]", (2, 3)),
        (":, [0, 1], [0, 1]", (2, 2)),
        ("0, [0, 1]", (2, 4)),
        ("0, :, [0, 1]", (3, 2)),
        ("[0, 1], None, [0, 1]", (2, 1, 4)),
        ("None, [0, 1]", (1, 2, 3, 4)),
        ("0, [0, 1], ..., 0", (2,)),
        ("[0], [True, False, True]", (2, 4)),
        ("True", (1, 2, 3, 4)),
        ("False", (0, 2, 3, 4)),
        (":, True", (2, 1, 3, 4)),
        ("0, True", (1, 3, 4)),
        ("True, [0, 1]", (2, 3, 4)),
        ("True, :, [0, 1]", (2, 2, 4)),
        ("t(True)", (1, 2, 3, 4)),
        ("t(1)", (3, 4)),
        ("t(-1), t(0)", (4,)),
        ("np.int64(1)", (3, 4)),
        ("np.array(1)", (3, 4)),
        ("np.array([[0, 1], [0, 1]])", (2, 2, 3, 4)),
        ("[[0, 1], [0, 1]]", (2, 4)),
        ("[slice(0, 1), None]", (1, 1, 3, 4)),
        ("[]", (0, 3, 4)),
        ("()", (2, 3, 4)),
        ("range(2)", (2, 3, 4)),
        ("..., ...", (2, 3, 4)),
        ("None, ..., None", (1, 2, 3, 4, 1)),
        ("MASK", (6, 4)),
        ("MASK, 0:1", (6, 1)),
        ("MASK, 0", (6,)),
        ("MASK, None", (6, 1, 4)),
        ("None, MASK", (1, 6, 4)),
        ("MASK, [0, 1, 2, 0, 1, 2]", (6,)),
        ("..., MASK.t()[:, :1].expand(3, 4)", (2, 12)),
        (": 2**70", (2, 3, 4)),
        ("t(0) : t(1)", (1, 3, 4)),
        ("t([0, 1], dtype=torch.int32)", (2, 3, 4)),
        ("t([0, 1], dtype=torch.uint8)", (1, 3, 4)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_shapes(module: Any, key: str, shape: tuple[int, ...]) -> None:
    mask = module.tensor(np.ones((2, 3), dtype=bool))
    a = module.tensor(np.zeros((2, 3, 4)))
    names = {"a": a, "MASK": mask, "t": module.tensor, "np": np, "torch": module}
    assert eval(f"a[{key}].shape", names) == shape


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        ("2", IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        ("0, -4", IndexError, "index -4 is out of bounds for dimension"),
        ("0, 0, 0, 0", IndexError, "too many indices for tensor of dimension 3"),
        (":, :, :, :", IndexError, "too many indices for tensor of dimension 3"),
        ("1.5", IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables"),
        ("{0}", IndexError, "are valid indices (got set)"),
        ("'a'", TypeError, "new(): invalid data type 'str'"),
        ("::-1", ValueError, "step must be greater than zero"),
        ("::0", ValueError, "slice step cannot be zero"),
        ("0.5:1", TypeError, "slice indices must be integers or None or have an __index__ method"),
        ("t([1.0])", IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        ("t([0, 5])", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (
            "t([0, 1]), t([0, 1, 2])",
            IndexError,
            "indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        ("t([True, False, True])", IndexError, "The shape of the mask [3] at index 0 does not match"),
        ("2**70", ValueError, "Overflow when unpacking long long"),
    ],
)
def test_errors(module: Any, key: str, error: type[Exception], text: str) -> None:
    names = {"a": module.tensor(np.zeros((2, 3, 4))), "t": module.tensor}
    with pytest.raises(error) as caught:
        eval(f"a[{key}]", names)
    assert text in str(caught.value)


def test_no_dimensions(module: Any) -> None:
    t = module.tensor(5.0)
    assert t[...].item() == t[()].item() == 5.0
    assert t[None].shape == t[True].shape == (1,)
    assert t[False].shape == (0,)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        t[0]
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor"):
        t[:]


def test_nodes(module: Any) -> None:
    a = module.tensor(np.zeros((2, 3, 4)), requires_grad=True)
    names = [
        (a[0], "SelectBackward0"),
        (a[0, 1:2], "SliceBackward0"),
        (a[:, 0], "SelectBackward0"),
        (a[:], "SliceBackward0"),
        (a[None], "UnsqueezeBackward0"),
        (a[...], "AliasBackward0"),
        (a[[0]], "IndexBackward0"),
        (a[True], "IndexBackward0"),
    ]
    for result, name in names:
        assert result.grad_fn.name() == name
    assert a[0, 1].grad_fn.next_functions[0][0].name() == "SelectBackward0"


def test_strides_and_offsets(module: Any) -> None:
    a = module.tensor(np.zeros((2, 3, 4)))
    for result, strides, offset in [
        (a[1:], (12, 4, 1), 12),
        (a[5:5], (12, 4, 1), 24),
        (a[::2], (24, 4, 1), 0),
        (a[None], (24, 12, 4, 1), 0),
        (a[:, None], (12, 12, 4, 1), 0),
        (a[..., None], (12, 4, 1, 1), 0),
        (a[1, ::2, 1], (8,), 13),
    ]:
        assert result.stride() == strides
        assert result.storage_offset() == offset


def test_too_many_dims(module: Any) -> None:
    if module.__name__ == "torch":
        pytest.skip("PyTorch has no limit here")
    t = module.tensor(np.zeros((1,) * 40))
    for key in ((None,) * 30, (*([None] * 30), [0])):
        with pytest.raises((IndexError, RuntimeError)):
            t[key]


def test_masks_of_bytes_warn(module: Any) -> None:
    torch = module
    x, mask = torch.arange(3), torch.tensor([1, 0, 1], dtype=torch.uint8)
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert x[mask].tolist() == [0, 2]
