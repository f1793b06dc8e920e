"""What tensors are as Python objects: hashing, comparison with arrays, old constructors, copies, exchange by DLPack."""

import copy
import operator
import warnings

import numpy as np
import pytest

import vivace as torch


def test_hashing_is_by_identity():
    x = torch.ones(2)
    assert hash(x) == id(x) and {x: 1}[x] == 1


def test_equality_with_arrays_is_elementwise():
    x, a = torch.arange(3), np.array([0, 5, 2])
    assert (x == a).tolist() == (a == x).tolist() == [True, False, True]
    assert (x != a).tolist() == [False, True, False] and (x == a).dtype == torch.bool
    assert (x == "a") is False


def test_typed_constructors():
    assert torch.FloatTensor(2, 3).shape == (2, 3) and torch.FloatTensor([1, 2]).tolist() == [1, 2]
    assert torch.LongTensor([1.7]).tolist() == [1] and torch.DoubleTensor(torch.Size([2])).shape == (2,)
    assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.arange(1), torch.FloatTensor)
    assert torch.FloatTensor.dtype == torch.float32 and not torch.FloatTensor.is_cuda
    assert torch.Tensor(torch.arange(2)).dtype == torch.int64
    assert torch.ones(1).type("torch.DoubleTensor").dtype == torch.float64
    assert (torch.ones(1) > 0).type(torch.Tensor).dtype == torch.float32
    for wrong in (
        lambda: torch.FloatTensor(torch.arange(2)),
        lambda: torch.FloatTensor(2.5),
        lambda: torch.Tensor(True),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu"):
        torch.Tensor(2, device="meta")


def test_default_tensor_type():
    try:
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.tensor(1.0).dtype == torch.float64
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    for wrong in ("torch.LongTensor", "torch.cuda.FloatTensor", 3):
        with pytest.raises(TypeError):
            torch.set_default_tensor_type(wrong)
    assert torch.tensor(1.0).dtype == torch.float32


def test_deep_copies_take_the_grads_of_tensors_and_not_of_parameters():
    tensor, parameter = torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))
    (tensor.sum() + parameter.sum()).backward()
    assert copy.deepcopy(tensor).grad.tolist() == [1, 1]
    copied = copy.deepcopy(parameter)
    assert copied.grad is None and type(copied) is torch.nn.Parameter and copied.requires_grad
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(tensor * 2)


def test_overwriting_gives_zeros_to_what_was_there():
    for overwrite in (
        lambda y: y.copy_(torch.ones(2)),
        lambda y: y.fill_(torch.tensor(2.0)),
        lambda y: y.__setitem__(..., torch.ones(2, requires_grad=True)),
    ):
        x = torch.ones(2, requires_grad=True)
        y = x * 3
        overwrite(y)
        y.sum().backward()
        assert x.grad.tolist() == [0, 0]


def test_results_of_indexing_are_laid_out_like_the_indexed():
    x = torch.randn(3, 4, 2).transpose(1, 2)
    picked = x[torch.tensor([1, 0, 2, 2])]
    assert picked.shape == (4, 2, 4) and picked.stride() == (8, 1, 2)
    assert picked.tolist() == x.contiguous()[torch.tensor([1, 0, 2, 2])].tolist()
    meta = x.to("meta")[torch.tensor([1, 0, 2, 2])]
    assert meta.is_meta and meta.stride() == picked.stride()
    with pytest.raises(NotImplementedError, match="mask on the meta device"):
        x.to("meta")[x.to("meta") > 0]


class ReadOnly:
    """An array that says that it must not be written to."""

    def __init__(self):
        self.array = np.arange(3.0)
        self.array.flags.writeable = False

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_copies_where_it_is_asked_to():
    a = np.arange(3.0)
    shared, copied = torch.from_dlpack(a), torch.from_dlpack(a, copy=True)
    a[0] = 9
    assert shared.tolist() == [9, 1, 2] and copied.tolist() == [0, 1, 2]
    assert torch.from_dlpack(a, device="cpu", copy=False).data_ptr() == shared.data_ptr()
    with pytest.raises(AssertionError, match="device 'cuda' can't be used"):
        torch.from_dlpack(a, device="cuda")
    assert torch.utils.dlpack.DLDeviceType(torch.ones(1).__dlpack_device__()[0]).name == "kDLCPU"
    assert torch.ones(1).__dlpack__(stream=-1)


def test_dlpack_of_read_only_memory_warns():
    with pytest.warns(UserWarning, match="read-only"):
        torch.from_dlpack(ReadOnly())


def test_sizes_hold_ints():
    assert repr(torch.Size([True, 2])) == "torch.Size([1, 2])"


def test_inversion_of_floats_is_a_type_error():
    for x in (torch.ones(2), torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.complex64)):
        with pytest.raises(TypeError, match="~ \\(operator.invert\\) is only implemented on integer and Boolean-type"):
            operator.invert(x)
        with pytest.raises(NotImplementedError):
            torch.bitwise_not(x)
    assert (~torch.tensor([True, False])).tolist() == [False, True]


def test_reading_the_grad_of_what_is_no_leaf_warns():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None
        y.retain_grad()
        assert y.grad is None


def test_parts_of_complex_numbers_are_written_to():
    z = torch.tensor([1 + 1j, 2 + 2j])
    z.real = 5.0
    z.imag = torch.tensor([7.0, 8.0])
    assert z.tolist() == [5 + 7j, 5 + 8j]
    x = torch.ones(2)
    x.real = 3
    assert x.tolist() == [3.0, 3.0]
    with pytest.raises(AttributeError):
        x.T = 3
    with pytest.raises(AttributeError):
        del z.real


def test_list_that_is_read_as_a_tuple_of_indices_warns():
    x = torch.arange(6).reshape(2, 3)
    with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
        assert x[[slice(None), 0]].tolist() == [0, 3]
