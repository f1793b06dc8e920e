"""nn.utils.weight_norm and spectral_norm: hooks that compute a weight. Numbers are PyTorch's, or NumPy's."""

import numpy as np
import pytest

import vivace as torch
from vivace.nn.utils import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

pytestmark = pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")


@pytest.mark.parametrize(("dim", "shape"), [(0, (3, 1, 1)), (1, (1, 2, 1)), (None, ())])
def test_weight_norm_is_length_times_direction(dim, shape):
    layer = torch.nn.Conv1d(2, 3, 2)
    before = layer.weight.detach().clone()
    assert weight_norm(layer, dim=dim) is layer
    assert sorted(layer.state_dict()) == ["bias", "weight_g", "weight_v"] and layer.weight_g.shape == shape
    assert torch.allclose(layer.weight, before)
    with torch.no_grad():
        layer.weight_g.mul_(2)
    layer(torch.ones(1, 2, 4)).sum().backward()
    assert torch.allclose(layer.weight, 2 * before) and layer.weight_g.grad is not None
    direction = (layer.weight_v * layer.weight_v.grad).sum([d for d in range(3) if dim is None or d != dim])
    assert torch.allclose(direction, torch.zeros(()), atol=1e-5)  # the length of v does not count
    remove_weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"] and isinstance(layer.weight, torch.nn.Parameter)
    assert torch.allclose(layer.weight, 2 * before) and not layer._forward_pre_hooks


def test_weight_norm_twice_or_never():
    layer = weight_norm(torch.nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        weight_norm(layer)
    with pytest.raises(ValueError, match="weight_norm of 'bias' not found"):
        remove_weight_norm(layer, "bias")
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        weight_norm(torch.nn.Linear(2, 2))


def test_spectral_norm_finds_the_largest_singular_value():
    torch.manual_seed(0)
    layer = spectral_norm(torch.nn.Linear(5, 4), n_power_iterations=30)
    assert sorted(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    layer(torch.ones(1, 5))
    largest = np.linalg.svd(layer.weight_orig.detach().numpy(), compute_uv=False)[0]
    np.testing.assert_allclose(layer.weight.detach().numpy(), layer.weight_orig.detach().numpy() / largest, rtol=1e-5)
    layer(torch.ones(1, 5)).sum().backward()
    assert layer.weight_orig.grad is not None
    layer.eval()
    u = layer.weight_u.clone()
    layer(torch.ones(1, 5))
    assert torch.equal(layer.weight_u, u)
    remove_spectral_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)[0], 1, rtol=1e-5)


def test_spectral_norm_goes_on_while_training():
    layer = spectral_norm(torch.nn.ConvTranspose2d(2, 3, 2))
    u = layer.weight_u.clone()
    x = torch.ones(1, 2, 2, 2)
    (layer(x).sum() + layer(x).sum()).backward()  # the second call leaves what the first one needs
    assert u.shape == (3,) and not torch.equal(layer.weight_u, u)
    other = spectral_norm(torch.nn.ConvTranspose2d(2, 3, 2)).eval()
    other.load_state_dict(layer.eval().state_dict())
    assert torch.equal(other(x), layer(x))
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        spectral_norm(layer)
    with pytest.raises(ValueError, match="n_power_iterations to be positive"):
        spectral_norm(torch.nn.Linear(1, 1), n_power_iterations=0)
