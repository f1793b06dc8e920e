"""The default device: set for the thread, or by a with block."""

import threading

import pytest

import vivace as torch

MAKERS = {
    "ones": lambda: torch.ones(2),
    "tensor": lambda: torch.tensor([1, 2]),
    "as_tensor": lambda: torch.as_tensor([1.0]),
    "arange": lambda: torch.arange(3),
    "randn": lambda: torch.randn(2),
    "full": lambda: torch.full((2,), 1.0),
    "Linear": lambda: torch.nn.Linear(2, 2).weight,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_makers_use_it(make):
    with torch.device("meta"):
        assert make().device.type == "meta"
        with torch.device("cpu"):
            assert make().device.type == "cpu"
        assert make().device.type == "meta"
    assert make().device.type == "cpu"


def test_what_follows_a_tensor_or_names_a_device_does_not():
    x = torch.ones(2)
    with torch.device("meta"):
        assert torch.zeros_like(x).device.type == "cpu"
        assert x.new_ones(2).device.type == "cpu"
        assert torch.ones(2, device="cpu").device.type == "cpu"
        assert torch.Tensor(2).device.type == "cpu"
        assert torch.ones(2, device=None).device.type == "meta"


def test_set_default_device():
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("meta")
    try:
        assert torch.get_default_device() == torch.device("meta") and torch.ones(1).is_meta
        found = []
        thread = threading.Thread(target=lambda: found.append(torch.ones(1).device.type))
        thread.start()
        thread.join()
        assert found == ["cpu"]
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device.type == "cpu"


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.ones(2).cuda(),
        lambda: torch.ones(2).to("cuda:0"),
        lambda: torch.ones(2).to(torch.device("cuda", 1)),
        lambda: torch.set_default_device("cuda"),
        lambda: torch.device("mps").__enter__(),
        lambda: torch.tensor([1.0], device="xpu"),
        lambda: torch.nn.Linear(2, 2).to("cuda"),
        lambda: torch.ones(2).type("torch.cuda.FloatTensor"),
    ],
)
def test_accelerators_are_refused_in_one_sentence(use):
    with pytest.raises((AssertionError, RuntimeError), match=r"vivace runs on the CPU: device '\w+' can't be used"):
        use()
    assert not torch.cuda.is_available()


def test_cuda_and_xpu_are_asserted_as_in_pytorch():
    with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled"):
        torch.ones(2).cuda()
    with pytest.raises(AssertionError, match="^Torch not compiled with XPU enabled"):
        torch.ones(2, device="xpu:0")
