"""Recurrent networks against their formulas in NumPy, sequence by sequence, and their derivatives."""

import numpy as np
import pytest

import vivace
from vivace import nn
from vivace.autograd import gradcheck, gradgradcheck
from vivace.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

KINDS = {
    "LSTM": lambda *args, **kw: nn.LSTM(*args, **kw),
    "LSTM projected": lambda *args, **kw: nn.LSTM(*args, proj_size=3, **kw),
    "GRU": lambda *args, **kw: nn.GRU(*args, **kw),
    "tanh": lambda *args, **kw: nn.RNN(*args, **kw),
    "relu": lambda *args, **kw: nn.RNN(*args, nonlinearity="relu", **kw),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
LENGTHS = [5, 3, 3, 1]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_step(kind, gates_x, gates_h, h, c):
    """(the state, the cell) after one step; the projection is left to the caller."""
    if kind.startswith("LSTM"):
        i, f, g, o = np.split(gates_x + gates_h, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if kind == "GRU":
        (xr, xz, xn), (hr, hz, hn) = np.split(gates_x, 3), np.split(gates_h, 3)
        z = sigmoid(xz + hz)
        return (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h, c
    both = gates_x + gates_h
    return (np.tanh(both) if kind == "tanh" else np.maximum(both, 0)), c


def numpy_run(kind, net, sequence, number, suffix):
    """The outputs of one direction of a single layer over one sequence, and the last states."""
    p = {n.removesuffix(suffix): v.detach().numpy() for n, v in net.named_parameters() if n.endswith(suffix)}
    h, c = np.zeros(p["weight_hh_l0"].shape[1]), np.zeros(net.hidden_size)
    outputs = []
    for x in sequence:
        h, c = numpy_step(kind, p["weight_ih_l0"] @ x + p["bias_ih_l0"], p["weight_hh_l0"] @ h + p["bias_hh_l0"], h, c)
        if "weight_hr_l0" in p:
            h = p["weight_hr_l0"] @ h
        outputs.append(h)
    return np.array(outputs), h, c


@every_kind
@pytest.mark.parametrize("hidden", [4, 37])
@pytest.mark.parametrize("dtype", [vivace.float32, vivace.float64])
def test_values_of_packed_sequences(kind, hidden, dtype):
    net = KINDS[kind](2, hidden, bidirectional=True, dtype=dtype)
    x = vivace.randn(5, 4, 2, dtype=dtype)
    output, state = net(pack_padded_sequence(x, LENGTHS))
    padded, lengths = pad_packed_sequence(output)
    states = state if isinstance(state, tuple) else (state,)
    assert lengths.tolist() == LENGTHS
    for b, n in enumerate(LENGTHS):
        sequence = x[:n, b].numpy()
        for direction, suffix in enumerate(("", "_reverse")):
            part = {k: v for k, v in net.named_parameters() if k.endswith("_reverse") == bool(direction)}
            ordered = sequence[::-1] if direction else sequence
            expected, h, c = numpy_run(kind, _Part(net, part), ordered, direction, suffix)
            width = h.shape[0]
            got = padded[:n, b, direction * width : (direction + 1) * width].detach().numpy()
            tolerance = 1e-5 if dtype == vivace.float32 else 1e-12
            np.testing.assert_allclose(got, expected[::-1] if direction else expected, tolerance, tolerance)
            for last, value in zip(states, (h, c), strict=False):
                np.testing.assert_allclose(last[direction, b].detach().numpy(), value, tolerance, tolerance)
        assert not padded[n:, b].any()


class _Part:
    """The parameters of one direction of a network."""

    def __init__(self, net, parameters):
        self.hidden_size, self._parameters = net.hidden_size, parameters

    def named_parameters(self):
        return self._parameters.items()


@every_kind
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
def test_derivatives(kind, packed, options):
    net = KINDS[kind](2, 4, dtype=vivace.float64, **options)
    parameters = list(net.parameters())

    def run(x, *_):
        output, state = net(pack_padded_sequence(x, [3, 2]) if packed else x)
        states = state if isinstance(state, tuple) else (state,)
        return (output.data if packed else output), *states

    x = vivace.randn(3, 2, 2, dtype=vivace.float64, requires_grad=True)
    assert gradcheck(run, (x, *parameters))
    if not options:
        assert gradgradcheck(run, (x, *parameters))


@every_kind
def test_both_backwards_agree(kind):
    """The fused gradients, and those of the steps that run again where a graph is asked for."""
    net = KINDS[kind](3, 5, num_layers=2, dtype=vivace.float64)
    x = vivace.randn(6, 2, 3, dtype=vivace.float64, requires_grad=True)
    inputs = [x, *net.parameters()]
    output = net(x)[0].square().sum()
    fused = vivace.autograd.grad(output, inputs, retain_graph=True)
    recorded = vivace.autograd.grad(output, inputs, create_graph=True)
    for a, b in zip(fused, recorded, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), 1e-10, 1e-12)


@every_kind
def test_second_derivative_where_arguments_depend_on_each_other(kind):
    """The first state is computed from the input: its gradient may not be counted twice."""
    net = KINDS[kind](4, 4, dtype=vivace.float64)

    def run(x):
        h = x[:1, :, : net.proj_size or 4] * 2
        return net(x, (h, x[1:2] * 3) if kind.startswith("LSTM") else h)[0]

    x = vivace.randn(2, 2, 4, dtype=vivace.float64, requires_grad=True)
    assert gradcheck(run, (x,))
    assert gradgradcheck(run, (x,))


@pytest.mark.parametrize("dtype", [vivace.float16, vivace.bfloat16])
def test_half_types_round_once(dtype):
    net = nn.LSTM(3, 5)
    x = vivace.randn(4, 2, 3).to(dtype)
    half = nn.LSTM(3, 5, dtype=dtype)
    half.load_state_dict(net.state_dict())
    net.load_state_dict({k: v.float() for k, v in half.state_dict().items()})
    output, (h, c) = half(x)
    assert output.dtype == h.dtype == c.dtype == dtype
    expected = net(x.float())[0]
    assert (output.float() - expected).abs().max() < 0.02
    output.sum().backward()
    assert all(p.grad.dtype == dtype and p.grad.isfinite().all() for p in half.parameters())


def test_meta():
    output, (h, c) = nn.LSTM(3, 5, 2, bidirectional=True, device="meta")(vivace.randn(4, 2, 3, device="meta"))
    assert output.shape == (4, 2, 10) and h.shape == c.shape == (4, 2, 5)
    assert output.is_meta


def test_no_sequences():
    output, h = nn.GRU(3, 5)(vivace.zeros(4, 0, 3))
    assert output.shape == (4, 0, 5) and h.shape == (1, 0, 5)


@pytest.mark.parametrize("sizes", [[2, 3], [4, 1], [2, -1, 4]])
def test_batch_sizes_that_do_not_fit(sizes):
    net = nn.GRU(3, 5)
    weights = list(net.parameters())
    with pytest.raises(RuntimeError, match="batch_sizes|hidden states"):
        vivace.gru(vivace.zeros(5, 3), vivace.tensor(sizes), vivace.zeros(1, 2, 5), weights, True, 1, 0.0, False, False)


def test_dtypes_that_differ():
    with pytest.raises(RuntimeError, match="not the same dtype"):
        nn.GRU(3, 5)(vivace.zeros(4, 2, 3), vivace.zeros(1, 2, 5, dtype=vivace.float64))


def test_weights_that_stand_in():
    net, other = nn.GRU(3, 4), nn.GRU(3, 4)
    x = vivace.randn(5, 2, 3)
    own, others = net(x)[0], other(x)[0]
    net._flat_weights = list(other.parameters())
    assert net(x)[0].equal(others)
    assert list(net.parameters()) == [getattr(net, name) for name in net._all_weights[0]] == net.all_weights[0]
    for name, weight in [*net.named_parameters()]:
        setattr(net, name, nn.Parameter(weight.detach()))  # new members end it
    assert net(x)[0].equal(own)
    net._flat_weights = list(other.parameters())
    assert not net.double()._flat_weights[0].equal(other.weight_ih_l0.double())
