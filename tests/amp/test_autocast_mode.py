"""Regions of autocast: what they set, nesting, decorators, old names, custom Functions."""

import functools
import warnings

import pytest

import vivace as torch

BF16 = torch.bfloat16


@pytest.fixture
def linear():
    torch.manual_seed(0)
    return torch.nn.Linear(3, 4)


def result_dtype():
    return torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype


def test_a_region_sets_and_restores():
    assert not torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled()
        assert torch.get_autocast_dtype("cpu") is torch.float16
        assert not torch.is_autocast_cache_enabled()
        assert result_dtype() is torch.float16
    assert not torch.is_autocast_enabled("cpu")
    assert torch.get_autocast_dtype("cpu") is BF16 and torch.is_autocast_cache_enabled()
    assert result_dtype() is torch.float32


def test_regions_nest():
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            assert result_dtype() is torch.float32
        with torch.autocast("cpu", dtype=torch.float16):
            assert result_dtype() is torch.float16
        assert result_dtype() is BF16


def test_an_exception_closes_the_region():
    with pytest.raises(ValueError), torch.autocast("cpu"):
        raise ValueError
    assert result_dtype() is torch.float32


def test_it_decorates_recursive_functions():
    @torch.autocast("cpu")
    def deep(n):
        return deep(n - 1) if n else result_dtype()

    assert deep(3) is BF16 and deep.__name__ == "deep"
    assert not torch.is_autocast_enabled("cpu")


def test_one_object_opens_several_regions():
    region = torch.autocast("cpu")
    with region, region:
        pass
    assert not torch.is_autocast_enabled("cpu")


def test_it_is_a_setting_of_the_thread():
    import threading

    found = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append(result_dtype()))
        thread.start()
        thread.join()
    assert found == [torch.float32]


@pytest.mark.parametrize(("device", "text"), [("cuda", "CUDA is not available"), ("mps", "there is no device 'mps'")])
def test_devices_that_are_not_here_are_told(device, text):
    with pytest.warns(UserWarning, match=text), torch.autocast(device):
        assert result_dtype() is torch.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.autocast(device, enabled=False)


def test_what_can_not_be_asked_for():
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        assert not torch.autocast("cpu", dtype=torch.float64)._enabled
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(5)
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        torch.autocast("abacus")
    with pytest.raises(RuntimeError, match="unsupported scalarType"):
        torch.autocast("meta")
    assert [torch.amp.is_autocast_available(d) for d in ("cpu", "cuda", "meta")] == [True, True, False]


def test_old_names():
    with pytest.warns(FutureWarning, match=r"torch.amp.autocast\('cpu', args...\)"):
        region = torch.cpu.amp.autocast()
    with region:
        assert result_dtype() is BF16
    with pytest.warns(FutureWarning, match="deprecated"), pytest.warns(UserWarning, match="CUDA is not available"):
        region = torch.cuda.amp.autocast()
    assert isinstance(region, torch.amp.autocast) and not region._enabled
    with pytest.warns(DeprecationWarning, match=r"torch.get_autocast_dtype\('cuda'\)"):
        assert torch.get_autocast_gpu_dtype() is torch.float16
    with pytest.warns(DeprecationWarning, match=r"torch.is_autocast_enabled\('cpu'\)"):
        assert torch.is_autocast_cpu_enabled() is False
    with pytest.warns(FutureWarning, match=r"torch.amp.GradScaler\('cpu', args...\)"):
        assert isinstance(torch.cpu.amp.GradScaler(), torch.amp.GradScaler)


def test_settings_without_a_region():
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert result_dtype() is torch.float16
    finally:
        torch.set_autocast_dtype("cpu", BF16)
        torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_enabled(True)
    assert torch.is_autocast_enabled()
    torch.set_autocast_enabled(False)
    assert torch.autocast_increment_nesting() == 1
    assert torch.autocast_decrement_nesting() == 0


class Product(torch.autograd.Function):
    @staticmethod
    @functools.partial(torch.amp.custom_fwd, device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.forward_dtype = result_dtype()
        return a.mm(b)

    @staticmethod
    @functools.partial(torch.amp.custom_bwd, device_type="cpu")
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        assert result_dtype() is ctx.forward_dtype
        return grad.mm(b.t()).to(a.dtype), a.t().mm(grad).to(b.dtype)


class FloatProduct(Product):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        assert a.dtype is b.dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
        ctx.save_for_backward(a, b)
        ctx.forward_dtype = result_dtype()
        return a.mm(b)


@pytest.mark.parametrize(("function", "dtype"), [(Product, BF16), (FloatProduct, torch.float32)])
def test_custom_functions(function, dtype):
    a = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        product = function.apply(a, torch.ones(2, 2, dtype=BF16 if function is FloatProduct else torch.float32))
        assert product.dtype is dtype
    product.sum().backward()
    assert a.grad.tolist() == [[2, 2], [2, 2]]
    assert function.apply(a, a).dtype is torch.float32


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoint_computes_again_in_the_same_precision(linear, use_reentrant):
    from vivace.utils.checkpoint import checkpoint

    dtypes = []

    def block(x):
        y = linear(x)
        dtypes.append(y.dtype)
        return torch.tanh(y)

    x = torch.ones(2, 3, requires_grad=True)
    with torch.autocast("cpu"):
        y = checkpoint(block, x, use_reentrant=use_reentrant)
    y.float().sum().backward()
    assert dtypes == [BF16, BF16]
