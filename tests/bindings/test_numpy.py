"""NumPy arrays in and out: shared memory, lifetimes, dtypes, refusals."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("name", DTYPES)
def test_round_trip(module: Any, name: str) -> None:
    array = (np.arange(6) % 2).astype(name).reshape(2, 3)
    t = module.from_numpy(array)
    assert t.dtype is getattr(module, name)
    assert t.tolist() == array.tolist()
    back = t.numpy()
    assert back.dtype == array.dtype
    assert np.shares_memory(back, array)
    np.testing.assert_array_equal(back, array)


def test_strides(module: Any) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    for view in (array.T, array[:, ::2], array[1:, :, 1::2], array[:0], array[0, 0, 0:1], np.array(3.0)):
        t = module.from_numpy(view)
        assert t.tolist() == view.tolist()
        assert t.shape == view.shape
    t = module.from_numpy(array).permute(2, 0, 1)[::2]
    np.testing.assert_array_equal(t.numpy(), array.transpose(2, 0, 1)[::2])
    assert np.shares_memory(t.numpy(), array)


def test_writes_are_seen_by_both(module: Any) -> None:
    array = np.zeros(3)
    t = module.from_numpy(array)
    t[1] = 5
    array[2] = 7
    assert array.tolist() == t.tolist() == [0.0, 5.0, 7.0]
    t.numpy()[0] = 1
    assert t[0] == 1


def test_memory_lives_as_long_as_its_users(module: Any) -> None:
    class Array(np.ndarray):
        """Can be weakly referenced."""

    array = np.zeros(3).view(Array)
    seen = weakref.ref(array)
    t = module.from_numpy(array)
    part = t[1:]
    del array, t
    gc.collect()
    assert seen() is not None
    part[0] = 2
    del part
    gc.collect()
    assert seen() is None

    view = module.tensor([1.0, 2.0, 3.0])[1:].numpy()
    gc.collect()
    assert view.tolist() == [2.0, 3.0]


def test_array_protocol(module: Any) -> None:
    t = module.tensor([1.0, 2.0])
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.asarray(t, dtype=np.int32).tolist() == [1, 2]
    copy = np.array(t)
    copy[0] = 9
    assert t.tolist() == [1.0, 2.0]
    assert np.stack([t, t]).shape == (2, 2)
    assert isinstance(np.sin(t), module.Tensor)
    assert t.__array_priority__ == 1000


def test_arrays_with_tensors(module: Any) -> None:
    t = module.tensor([1.0, 2.0])
    assert (t * np.ones(2)).tolist() == [1.0, 2.0]
    assert (np.float64(2) * t).tolist() == [2.0, 4.0]


def test_force(module: Any) -> None:
    t = module.tensor([1.0], requires_grad=True)
    for convert in (lambda: t.numpy(), lambda: np.asarray(t)):
        with pytest.raises(RuntimeError, match="Can't call numpy"):
            convert()
    assert t.numpy(force=True).tolist() == [1.0]
    with module.no_grad():  # where nothing is recorded, nothing is lost
        assert t.numpy().tolist() == [1.0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: [1], TypeError, r"expected np.ndarray \(got list\)"),
        (lambda: np.float64(1), TypeError, r"expected np.ndarray \(got numpy.float64\)"),
        (lambda: np.arange(4)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (lambda: np.arange(4).astype(">i4"), ValueError, "byte order different from the native byte order"),
        (lambda: np.zeros(2, dtype="i1,f4")["f1"], ValueError, "not a multiple of the element byte size"),
        (lambda: np.array([None]), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (lambda: np.zeros(1, "M8[s]"), TypeError, "can't convert np.ndarray of type numpy.datetime64"),
    ],
)
def test_arrays_that_no_tensor_can_describe(module: Any, make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        module.from_numpy(make())


def test_tensors_that_no_array_can_describe(module: Any) -> None:
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        module.tensor([1.0], dtype=module.bfloat16).numpy()
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        module.tensor([1.0], device="meta").numpy()


def test_readonly_arrays_warn(module: Any) -> None:
    if module.__name__ == "torch":
        pytest.skip("PyTorch warns once per process")
    with pytest.warns(UserWarning, match="NumPy array is not writable"):
        module.from_numpy(np.frombuffer(b"abcd", dtype=np.uint8))


def test_hasattr_of_what_numpy_may_not_share(module: Any) -> None:
    torch = module
    for t in (torch.ones(1, requires_grad=True), torch.ones(1, dtype=torch.bfloat16), torch.ones(1, device="meta")):
        assert not hasattr(t, "__array_interface__") and not hasattr(t, "__array_struct__")
        with pytest.raises((TypeError, RuntimeError)):
            np.asarray(t)
    assert hasattr(torch.ones(1), "__array_interface__")
