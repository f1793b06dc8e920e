"""torch.tensor and its kin: dtype inference, values, errors, memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([1.0, 2.0], "float32", [1.0, 2.0]),
        ((1, 2), "int64", [1, 2]),
        ([True, False], "bool", [True, False]),
        (3, "int64", 3),
        (2.5, "float32", 2.5),
        (1j, "complex64", 1j),
        ([1, 2.5], "float32", [1.0, 2.5]),
        ([True, 2], "int64", [1, 2]),
        ([1, 1j], "complex64", [1, 1j]),
        ([], "float32", []),
        ([[], []], "float32", [[], []]),
        (range(3), "int64", [0, 1, 2]),
        ([(1, 2), [3, 4]], "int64", [[1, 2], [3, 4]]),
        ([[[1]], [[2]]], "int64", [[[1]], [[2]]]),
        (np.float64(1), "float64", 1.0),
        (np.int32(7), "int32", 7),
        (np.bool_(True), "bool", True),
        ([np.float32(1), 2.5], "float32", [1.0, 2.5]),
        ([np.float64(1), 2.5], "float64", [1.0, 2.5]),
        ([np.int8(1), np.int16(2)], "int16", [1, 2]),
        ([np.int8(1), 2], "int64", [1, 2]),
        (np.array([1, 2]), "int64", [1, 2]),
        (np.array([[1.5]], dtype=np.float16), "float16", [[1.5]]),
        ([np.array([3.0, 4.0]), [1, 2.5]], "float64", [[3.0, 4.0], [1.0, 2.5]]),
        (bytearray(b"abc"), "int64", [97, 98, 99]),
        ([1.0, 2**70], "float32", [1.0, 2.0**70]),
        ([1e300], "float32", [float("inf")]),
    ],
)
def test_inference(module: Any, data: Any, dtype: str, values: Any) -> None:
    t = module.tensor(data)
    assert t.dtype is getattr(module, dtype)
    assert t.tolist() == values


def test_inference_from_tensors(module: Any) -> None:
    assert module.tensor([module.tensor(1), module.tensor(2.5)]).tolist() == [1.0, 2.5]
    assert module.tensor([module.tensor(1, dtype=module.int8), 2]).dtype is module.int64
    assert module.tensor([[1, 2], module.tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        copy = module.tensor(module.tensor([1.0]))
    assert copy.tolist() == [1.0]


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([1, 2], "float64", [1.0, 2.0]),
        ([1.5, -2.5], "int32", [1, -2]),
        ([-1], "uint8", [255]),
        ([2, 0], "bool", [True, False]),
        ([0.1], "bfloat16", [0.10009765625]),
        ([1, 2.5], "complex128", [1 + 0j, 2.5 + 0j]),
        (2**63, "uint64", 2**63),
    ],
)
def test_dtype_argument(module: Any, data: Any, dtype: str, values: Any) -> None:
    t = module.tensor(data, dtype=getattr(module, dtype))
    assert t.dtype is getattr(module, dtype)
    assert t.tolist() == values


def test_python_types_as_dtypes(module: Any) -> None:
    assert module.tensor([1], dtype=float).dtype is module.float64
    assert module.tensor([1.5], dtype=int).tolist() == [1]
    assert module.tensor([1.5], dtype=bool).dtype is module.bool


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        ("a", TypeError, "new(): invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([[1.0, 2.0], [3.0, "a"]], TypeError, "new(): invalid data type 'str'"),
        (b"abc", TypeError, "new(): invalid data type 'bytes'"),
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ([1, [2, 3]], TypeError, "'list' object cannot be interpreted as an integer"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({"a": 1}, RuntimeError, "Could not infer dtype of dict"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
    ],
)
def test_bad_data(module: Any, data: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        module.tensor(data)
    assert text in str(caught.value)


def test_values_that_do_not_fit(module: Any) -> None:
    for data, dtype in (([300], "uint8"), ([1e30], "int32"), ([float("nan")], "int64"), ([2**40], "int32")):
        with pytest.raises(RuntimeError, match="without overflow"):
            module.tensor(data, dtype=getattr(module, dtype))
    with pytest.raises(TypeError, match="must be real number, not complex"):
        module.tensor(1j, dtype=module.float32)


def test_a_list_that_holds_itself(module: Any) -> None:
    data: list[Any] = [1]
    data.append(data)
    with pytest.raises((RecursionError, ValueError, RuntimeError, TypeError)):
        module.tensor(data)


def test_arguments(module: Any) -> None:
    assert module.tensor(data=[1.0], requires_grad=True).requires_grad
    assert module.tensor([1.0, 2.0], device="meta").device.type == "meta"
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
        module.tensor(1, requires_grad=True)
    for arguments, keywords, text in [
        ((), {}, 'tensor() missing 1 required positional arguments: "data"'),
        ((1, 2), {}, "tensor() takes 1 positional argument but 2 were given"),
        ((1,), {"foo": 1}, "tensor() got an unexpected keyword argument 'foo'"),
        ((1,), {"dtype": "a"}, "tensor(): argument 'dtype' must be torch.dtype, not str"),
    ]:
        with pytest.raises(TypeError) as caught:
            module.tensor(*arguments, **keywords)
        assert text in str(caught.value)


def test_as_tensor_shares(module: Any) -> None:
    t = module.tensor([1.0, 2.0], requires_grad=True)
    assert module.as_tensor(t) is t
    module.as_tensor(t, dtype=module.float64).sum().backward()
    assert t.grad.tolist() == [1.0, 1.0]
    array = np.zeros(2)
    module.as_tensor(array)[0] = 3
    assert array.tolist() == [3.0, 0.0]
    module.as_tensor(array, dtype=module.float32)[0] = 4
    assert array.tolist() == [3.0, 0.0]
    assert module.as_tensor([1, 2]).tolist() == [1, 2]


def test_asarray(module: Any) -> None:
    array = np.zeros(2)
    module.asarray(array)[0] = 3
    module.asarray(array, copy=True)[1] = 3
    assert array.tolist() == [3.0, 0.0]
    assert module.asarray(b"ab", dtype=module.uint8, copy=True).tolist() == [97, 98]
    assert module.asarray([1.0], requires_grad=True).requires_grad
    t = module.tensor([1.0], requires_grad=True)
    assert module.asarray(t) is t
    assert not module.asarray(t, requires_grad=False).requires_grad
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        module.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="can't alias tensor with dtype"):
        module.asarray(array, dtype=module.int64, copy=False)


def test_frombuffer(module: Any) -> None:
    data = bytearray(b"abcdef")
    t = module.frombuffer(data, dtype=module.uint8, count=2, offset=1)
    t[0] = 65
    assert t.tolist() == [65, 99]
    assert data == b"aAcdef"
    assert module.frombuffer(data, dtype=module.int16).shape == (3,)
    if module.__name__ != "torch":
        with pytest.raises(BufferError):
            data.append(1)


@pytest.mark.parametrize(
    ("data", "arguments", "text"),
    [
        (b"abcde", {}, "must be a multiple of element size (2)"),
        (b"", {}, "both buffer length (0) and count (-1) must not be 0"),
        (b"abcd", {"count": 0}, "both buffer length (4) and count (0) must not be 0"),
        (b"abcd", {"offset": 4}, "offset (4 bytes) must be non-negative and no greater than buffer length"),
        (b"abcd", {"offset": -1}, "offset (-1 bytes) must be non-negative"),
        (b"abcd", {"count": 3}, "requested buffer length (3 * 2 bytes)"),
    ],
)
def test_frombuffer_refuses(module: Any, data: bytes, arguments: dict[str, int], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        module.frombuffer(bytearray(data), dtype=module.int16, **arguments)
    assert text in str(caught.value)


def test_frombuffer_warns_of_readonly_memory(module: Any) -> None:
    if module.__name__ == "torch":
        pytest.skip("PyTorch warns once per process")
    with pytest.warns(UserWarning, match="not writable"):
        module.frombuffer(b"abcd", dtype=module.uint8)


def test_legacy_constructors(module: Any) -> None:
    assert module.Tensor().shape == (0,)
    assert module.Tensor(2, 3).shape == (2, 3)
    assert module.Tensor(module.Size([2, 1])).shape == (2, 1)
    assert module.Tensor([2, 3]).tolist() == [2.0, 3.0]
    assert module.Tensor((2, 3)).tolist() == [2.0, 3.0]
    assert module.Tensor(np.array([1.0, 2.0])).dtype is module.float32
    assert module.LongTensor([1, 2]).dtype is module.int64
    assert module.BoolTensor([1, 0]).tolist() == [True, False]
    for bad in (2.5, None):
        with pytest.raises(TypeError, match="data must be a sequence"):
            module.Tensor(bad)
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        module.Tensor(-1)


def test_new_tensor(module: Any) -> None:
    t = module.tensor([1, 2])
    assert t.new_tensor([1.5]).tolist() == [1]
    assert t.new_tensor(1.5, dtype=module.float64, requires_grad=True).dtype is module.float64
    assert t.new([3, 4]).tolist() == [3, 4]
    assert t.new(2, 3).shape == (2, 3)


def test_old_constructor_of_a_tensor_that_requires_grad(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    alias = module.Tensor(x)
    assert alias.data_ptr() == x.data_ptr() and alias.requires_grad
    alias.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_sparse_layouts_are_refused(module: Any) -> None:
    for call in (lambda **k: module.zeros(2, **k), lambda **k: module.empty_like(module.ones(2), **k)):
        assert call(layout=module.strided).layout == module.strided
        with pytest.raises(NotImplementedError, match="layout"):
            call(layout=module.sparse_coo)
