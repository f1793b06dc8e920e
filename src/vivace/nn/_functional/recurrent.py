"""Cells of recurrent networks, and one direction of a layer of them.

A step takes the gates that come from its input, computed for all steps in one product, and the state; it gives the new
state, whose first tensor is the step's output.
"""

import vivace

from . import native as _nn


def lstm_step(gates, state, w_hh, b_hh, w_hr=None):
    h, c = state
    i, f, g, o = (gates + _nn.linear(h, w_hh, b_hh)).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if w_hr is None else _nn.linear(h, w_hr)), c


def gru_step(gates, state, w_hh, b_hh):
    (h,) = state
    input_r, input_z, input_n = gates.chunk(3, -1)
    hidden_r, hidden_z, hidden_n = _nn.linear(h, w_hh, b_hh).chunk(3, -1)
    r = (input_r + hidden_r).sigmoid()
    z = (input_z + hidden_z).sigmoid()
    n = (input_n + r * hidden_n).tanh()
    return ((h - n) * z + n,)


def tanh_step(gates, state, w_hh, b_hh):
    return ((gates + _nn.linear(state[0], w_hh, b_hh)).tanh(),)


def relu_step(gates, state, w_hh, b_hh):
    return ((gates + _nn.linear(state[0], w_hh, b_hh)).relu(),)


STEPS = {"LSTM": lstm_step, "GRU": gru_step, "RNN_TANH": tanh_step, "RNN_RELU": relu_step}


def run_direction(step, gates, state, weights, reverse):
    """All steps of one direction: `gates` has one tensor a step, and the batch shrinks where sequences have ended.

    Gives the outputs in the order of time and the last state of every sequence.
    """
    outputs = [None] * len(gates)
    batch = gates[0].size(0)
    if not reverse:
        ended = []
        for t, gate in enumerate(gates):
            n = gate.size(0)
            if n < batch:
                ended.append(tuple(s[n:] for s in state))
                state = tuple(s[:n] for s in state)
                batch = n
            state = step(gate, state, *weights)
            outputs[t] = state[0]
        if ended:
            ended.append(state)
            state = tuple(vivace.cat(parts) for parts in zip(*reversed(ended), strict=True))
        return outputs, state
    first = state
    batch = gates[-1].size(0)
    state = tuple(s[:batch] for s in first)
    for t in range(len(gates) - 1, -1, -1):
        n = gates[t].size(0)
        if n > batch:  # sequences that end here begin here, in this direction
            state = tuple(vivace.cat((s, s0[batch:n])) for s, s0 in zip(state, first, strict=True))
            batch = n
        state = step(gates[t], state, *weights)
        outputs[t] = state[0]
    return outputs, state
