"""Results that are row-major whatever the layout of the arguments, so that `view` takes them."""

import pytest

import vivace as torch
from vivace.nn import functional as F

ROW_MAJOR = {
    "masked_fill": lambda x: x.masked_fill(x > 1, 0.0),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "renorm": lambda x: x.renorm(2, 0, 1.0),
    "matrix_power": lambda x: torch.linalg.matrix_power(x, 1),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 1),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 1),
    "pinv": lambda x: torch.linalg.pinv(x),
    "pinv, hermitian": lambda x: torch.linalg.pinv(x, hermitian=True),
    "quantile": lambda x: x.quantile(0.5, 0, keepdim=True),
    "nanquantile": lambda x: x.nanquantile(0.2, 1, keepdim=True),
    "ravel": lambda x: x.ravel(),
}


@pytest.mark.parametrize("name", ROW_MAJOR)
@pytest.mark.parametrize("layout", ["transposed", "every second"])
def test_result_is_row_major(name, layout):
    x = torch.arange(75.0).reshape(3, 5, 5).sin()
    strided = x.mT.contiguous().mT if layout == "transposed" else torch.stack([x, x], -1)[..., 0]
    result = ROW_MAJOR[name](strided)
    assert result.is_contiguous()
    torch.testing.assert_close(result, ROW_MAJOR[name](x))


@pytest.mark.parametrize("name", ["circular pad", "adaptive maxima"])
def test_volumes_in_channels_last_give_row_major_results(name):
    x = torch.arange(2.0 * 3 * 4 * 4 * 4).reshape(2, 3, 4, 4, 4)
    call = {
        "circular pad": lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), mode="circular"),
        "adaptive maxima": lambda x: F.adaptive_max_pool3d(x, 2),
    }[name]
    result = call(x.contiguous(memory_format=torch.channels_last_3d))
    assert result.is_contiguous() and torch.equal(result, call(x))


@pytest.mark.parametrize(
    ("mean", "total"),
    [(lambda x: x.mean(), 6.0), (lambda x: x.mean(1).sum(), 12.0), (lambda x: x.mean((0, 1), keepdim=True).sum(), 6.0)],
)
def test_gradient_of_a_mean_can_be_written_to(mean, total):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: g.mul_(6))
    mean(y).backward()
    assert x.grad.sum().item() == pytest.approx(total)
