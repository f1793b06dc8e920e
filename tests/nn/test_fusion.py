"""nn.utils.fusion: one layer computes what the two did."""

from __future__ import annotations

import pytest

import vivace as torch
from vivace import nn
from vivace.nn.utils import fusion


def normalization(kind, n, affine):
    made = kind(n, affine=affine)
    torch.nn.init.normal_(made.running_mean)
    torch.nn.init.uniform_(made.running_var, 0.5, 2.0)
    if affine:
        torch.nn.init.normal_(made.weight)
        torch.nn.init.normal_(made.bias)
    return made.eval()


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_one_layer_for_two(affine, bias):
    torch.manual_seed(0)
    conv = nn.Conv2d(3, 4, 3, bias=bias).eval()
    bn = normalization(nn.BatchNorm2d, 4, affine)
    x = torch.randn(2, 3, 5, 5)
    torch.testing.assert_close(fusion.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
    transposed = nn.ConvTranspose2d(3, 4, 3, bias=bias).eval()
    torch.testing.assert_close(fusion.fuse_conv_bn_eval(transposed, bn, transpose=True)(x), bn(transposed(x)))
    linear, bn1 = nn.Linear(6, 4, bias=bias).eval(), normalization(nn.BatchNorm1d, 4, affine)
    y = torch.randn(5, 6)
    torch.testing.assert_close(fusion.fuse_linear_bn_eval(linear, bn1)(y), bn1(linear(y)))


def test_refuses_training():
    with pytest.raises(AssertionError, match="only for eval"):
        fusion.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))
    with pytest.raises(AssertionError, match="num_features"):
        fusion.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(2).eval())
