"""Gradients of first and higher order at kinks, ties and edges of domains, as PyTorch has them."""

import math

import pytest

import vivace as torch
import vivace.nn.functional as F

INF, NAN = math.inf, math.nan


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def slope(f, *values, weight=None):
    x = leaf(*values)
    y = f(x)
    return torch.autograd.grad(y, x, torch.ones_like(y) if weight is None else torch.full_like(y, weight))[0].tolist()


def curvature(f, *values):
    x = leaf(*values)
    (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)[0].tolist()


@pytest.mark.parametrize(
    "f",
    [
        torch.relu,
        F.relu6,
        F.leaky_relu,
        F.hardtanh,
        F.hardsigmoid,
        F.hardshrink,
        F.softshrink,
        F.rrelu,
        lambda x: F.threshold(x, 0.1, 0.2),
        lambda x: F.prelu(x, torch.tensor([0.5], dtype=torch.float64)),
        torch.abs,
        lambda x: F.l1_loss(x, torch.zeros_like(x)),
    ],
)
def test_piecewise_linear_functions_have_second_derivatives_of_zero(f):
    assert curvature(f, -3.5, -0.3, 0.4, 7.0) == [0.0] * 4


def test_second_derivative_of_a_network_with_relu_by_its_input():
    x = torch.ones(2, 3, requires_grad=True)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [[0.0] * 3] * 2


def test_third_derivative_of_abs_at_zero():
    x = leaf(0.0, 1.0)
    y = (x * x * x).abs()
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert y.tolist() == [0.0, 6.0]


@pytest.mark.parametrize("f", [F.elu, F.celu, F.selu])
def test_exponential_units_bend_left_of_zero_only(f):
    assert curvature(f, 0.0, 1.0, 1000.0, INF) == [0.0] * 4
    assert curvature(f, -1.0)[0] > 0.3
    assert slope(f, NAN)[0] == slope(f, 1.0)[0]


@pytest.mark.parametrize("f", [F.huber_loss, F.smooth_l1_loss])
def test_losses_bend_between_their_kinks_only(f):
    def loss(x):
        return f(x, torch.zeros_like(x), reduction="sum")

    assert curvature(loss, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0) == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert slope(loss, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0) == [-1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0]


def test_nan_passes_relu_and_stops_at_the_shrinks():
    assert slope(torch.relu, NAN, -1.0, 0.0) == [1.0, 0.0, 0.0]
    assert slope(F.hardshrink, NAN) == slope(F.softshrink, NAN) == [0.0]


def test_neither_operand_loses_beside_nan():
    a, b = leaf(0.0, NAN, 1.0, 2.0), leaf(NAN, 0.0, 1.0, 1.0)
    for f, last in ((torch.maximum, (1.0, 0.0)), (torch.minimum, (0.0, 1.0))):
        ga, gb = torch.autograd.grad(f(a, b).sum(), (a, b))
        assert ga.tolist() == [1.0, 1.0, 0.5, last[0]] and gb.tolist() == [1.0, 1.0, 0.5, last[1]]


@pytest.mark.parametrize("f", [torch.sign, torch.floor, torch.ceil, torch.trunc, torch.round, lambda x: x // 2])
def test_steps_have_gradients_of_zero_whatever_comes_in(f):
    assert slope(f, 1.5, -0.5, weight=INF) == slope(f, 1.5, -0.5, weight=NAN) == [0.0, 0.0]
    x = leaf(1.5)
    assert not torch.autograd.grad(f(x).sum(), x, create_graph=True)[0].requires_grad


@pytest.mark.parametrize("graph", [False, True])
def test_binary_cross_entropy_of_saturated_predictions(graph):
    x = leaf(0.0, 1.0, 0.0, 1.0, 0.5)
    target = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0], dtype=torch.float64)
    loss = F.binary_cross_entropy(x, target, reduction="none")
    assert loss[:4].tolist() == [0.0, 0.0, 100.0, 100.0]
    (g,) = torch.autograd.grad(loss.sum(), x, create_graph=graph)
    assert g.tolist() == [0.0, 0.0, -1e12, 1e12, -2.0]


def test_xlogy_without_incoming_gradient():
    for f in (torch.xlogy, torch.special.xlog1py):
        assert slope(lambda x, f=f: f(x, -1.0), 2.0, weight=0.0) == [0.0]
        assert slope(lambda x, f=f: f(x, INF), 2.0, weight=0.0) == [0.0]


def test_copysign_of_zero():
    assert curvature(lambda x: torch.copysign(x, -1), 0.0, 2.0) == [0.0, 0.0]


def test_power_average_of_zeros():
    assert slope(lambda x: F.lp_pool1d(x.reshape(1, 1, 4), 2, 2), 0.0, 0.0, 3.0, 4.0) == pytest.approx(
        [0.0, 0.0, 0.6, 0.8]
    )


@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
def test_mean_of_one_number_has_a_gradient_though_its_variance_is_nan(name):
    x = leaf(3.0)
    spread, mean = getattr(torch, name)(x, 0)
    assert torch.autograd.grad(mean, x, retain_graph=True)[0].tolist() == [1.0]
    assert math.isnan(torch.autograd.grad(spread + mean, x)[0].item())
    x = leaf(3.0, 5.0)
    spread, mean = getattr(torch, name)(x, 0)
    assert torch.autograd.grad(mean, x)[0].tolist() == [0.5, 0.5]
