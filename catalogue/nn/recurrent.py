"""Recurrent layers: all steps of one direction in one call, given what the inputs add to the gates."""

from catalogue.dtypes import floating
from catalogue.kinds import composite, op
from codegen.expr import cpp

recurrence = op(
    "recurrence(Tensor gates, Tensor h0, Tensor? c0, Tensor weight_hh, Tensor? bias_hh, Tensor? weight_hr, "
    "Tensor? batch_sizes, int mode, bool reverse, bool keep) -> (Tensor, Tensor, Tensor, Tensor)",
    kernel="recurrence",
    namespace="private",
    dtypes=floating,
    differentiable=("gates", "h0", "c0", "weight_hh", "bias_hh", "weight_hr"),
    nondiff=(3,),
    wants_zeros=False,
    grad=lambda g0, g1, g2, gates, h0, c0, weight_hh, bias_hh, weight_hr, batch_sizes, mode, reverse, needs: (
        cpp.recurrence_backward(
            g0, g1, g2, gates, h0, c0, weight_hh, bias_hh, weight_hr, batch_sizes, mode, reverse, needs
        )
    ),
    fused_grad=lambda g0, g1, g2, h0, c0, weight_hh, weight_hr, batch_sizes, mode, reverse, y0, y3, needs: (
        cpp.recurrence_backward_fused(
            g0, g1, g2, h0, c0, weight_hh, weight_hr, batch_sizes, mode, reverse, y0, y3, needs
        )
    ),
    doc="The output of every step, the last h, the last c (LSTM), and if `keep` what backward reads. `gates` holds the "
    "inputs' part: (T, B, G * H), or (sum of batch_sizes, G * H) where sequences end at different steps.",
)


def _layers(name, hx, results, samples, autocast="float32", autocast_packed="float32"):
    """The overloads of a recurrent network: over (T, B, F) or (B, T, F), and over packed data.

    Autocast gives results of the dtypes that PyTorch's have, whose float32 states widen the gates of GRU and LSTM."""
    rest = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
    doc = f"The layers of a recurrent network ({name}): the last layer's output of every step, and the last states."
    composite(
        f"{name}.input(Tensor input, {hx}, {rest}, bool batch_first) -> {results}",
        kernel=f"{name}_input",
        variants="function",
        autocast=autocast,
        dtypes=floating,
        samples=samples,
        doc=doc,
    )
    composite(
        f"{name}.data(Tensor data, Tensor batch_sizes, {hx}, {rest}) -> {results}",
        kernel=f"{name}_data",
        variants="function",
        autocast=autocast_packed,
        dtypes=floating,
        doc=doc,
    )


def _params(s, gates, width=2, features=3, directions=1):
    return [
        s.t(*shape)
        for _ in range(directions)
        for shape in ((gates * width, features), (gates * width, width), (gates * width,), (gates * width,))
    ]


def _single(gates):
    """Samples of networks whose state is one tensor."""
    return lambda s: [
        s(s.t(4, 2, 3), s.t(1, 2, 2), _params(s, gates), True, 1, 0.0, False, False, False),
        s(s.t(2, 3, 3), s.t(2, 2, 2), _params(s, gates, directions=2), True, 1, 0.0, True, True, True),
        s(s.t(1, 2, 3), s.t(1, 2, 2), _params(s, gates)[:2], False, 1, 0.0, False, False, False),
    ]


_layers(
    "lstm",
    "Tensor[] hx",
    "(Tensor, Tensor, Tensor)",
    lambda s: [
        s(s.t(4, 2, 3), [s.t(1, 2, 2), s.t(1, 2, 2)], _params(s, 4), True, 1, 0.0, False, False, False),
        s(
            s.t(2, 3, 3),
            [s.t(2, 2, 2), s.t(2, 2, 2)],
            _params(s, 4, directions=2),
            True,
            1,
            0.0,
            True,
            True,
            True,
        ),
        s(
            s.t(3, 2, 3),
            [s.t(1, 2, 2), s.t(1, 2, 3)],
            [s.t(12, 3), s.t(12, 2), s.t(12), s.t(12), s.t(2, 3)],
            True,
            1,
            0.0,
            False,
            False,
            False,
        ),
    ],
    autocast="lower",
)
_layers("gru", "Tensor hx", "(Tensor, Tensor)", _single(3))
_layers("rnn_tanh", "Tensor hx", "(Tensor, Tensor)", _single(1), "lower", "lower")
_layers("rnn_relu", "Tensor hx", "(Tensor, Tensor)", _single(1), "lower", "lower")

_WEIGHTS = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"


def _cell(gates):
    return lambda s: [s(s.t(3, 3), s.t(3, 2), *_params(s, gates)), s(s.t(3, 3), s.t(3, 2), *_params(s, gates)[:2])]


lstm_cell = composite(
    f"lstm_cell(Tensor input, Tensor[] hx, {_WEIGHTS}) -> (Tensor, Tensor)",
    kernel="lstm_cell",
    variants="function",
    autocast="float32",
    dtypes=floating,
    samples=lambda s: [s(s.t(3, 3), [s.t(3, 2), s.t(3, 2)], *_params(s, 4))],
    doc="One step of an LSTM: h and c after it.",
)
gru_cell = composite(
    f"gru_cell(Tensor input, Tensor hx, {_WEIGHTS}) -> Tensor",
    kernel="gru_cell",
    variants="function",
    autocast="float32",
    dtypes=floating,
    samples=_cell(3),
    doc="One step of a GRU.",
)
rnn_tanh_cell = composite(
    f"rnn_tanh_cell(Tensor input, Tensor hx, {_WEIGHTS}) -> Tensor",
    kernel="rnn_tanh_cell",
    variants="function",
    autocast="lower",
    dtypes=floating,
    samples=_cell(1),
    doc="tanh(w_ih @ input + b_ih + w_hh @ hx + b_hh).",
)
rnn_relu_cell = composite(
    f"rnn_relu_cell(Tensor input, Tensor hx, {_WEIGHTS}) -> Tensor",
    kernel="rnn_relu_cell",
    variants="function",
    autocast="lower",
    dtypes=floating,
    samples=_cell(1),
    doc="relu(w_ih @ input + b_ih + w_hh @ hx + b_hh).",
)
