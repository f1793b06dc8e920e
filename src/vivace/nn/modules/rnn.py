"""Recurrent layers and cells."""

import math

import vivace

from .. import init
from ..parameter import Parameter
from .module import Module

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_NETWORKS = {"LSTM": vivace.lstm, "GRU": vivace.gru, "RNN_TANH": vivace.rnn_tanh, "RNN_RELU": vivace.rnn_relu}


def apply_permutation(tensor, permutation, dim=1):
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Layers of a recurrent network, in one or two directions."""

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options(dropout)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        directions = 2 if bidirectional else 1
        gates = _GATES[mode] * hidden_size
        output_size = proj_size if proj_size > 0 else hidden_size
        self._flat_weights_names = []
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                width = input_size if layer == 0 else output_size * directions
                shapes = {"weight_ih": (gates, width), "weight_hh": (gates, output_size)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size > 0:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(vivace.empty(shape, device=device, dtype=dtype)))
                    self._flat_weights_names.append(name + suffix)
        self.reset_parameters()

    def _check_options(self, dropout):
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            import warnings

            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                "num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        if not isinstance(self.hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(self.hidden_size).__name__}")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def __getstate__(self):
        # What PyTorch, which may read the pickle, expects beside the parameters.
        computed = {"_all_weights": self._all_weights, "_flat_weights": self._flat_weights}
        return super().__getstate__() | computed

    def __setstate__(self, state):
        super().__setstate__({k: v for k, v in state.items() if k not in ("_all_weights", "_flat_weights")})

    # Weights that someone put in the place of members, each with the member that it stands for: a later one ends it.
    _stand_ins = {}

    def _apply(self, *args, **kwargs):
        self._stand_ins = {}
        return super()._apply(*args, **kwargs)

    @property
    def _flat_weights(self):
        weights = self._member_weights()
        if self._stand_ins:
            for i, name in enumerate(self._flat_weights_names):
                member, given = self._stand_ins.get(name, (None, None))
                if member is weights[i]:
                    weights[i] = given
        return weights

    @_flat_weights.setter
    def _flat_weights(self, weights):
        named = zip(self._flat_weights_names, self._member_weights(), weights, strict=True)
        self._stand_ins = {name: (member, given) for name, member, given in named if given is not member}

    def _member_weights(self):
        parameters = self._parameters  # not so where a parametrization computes them
        return [parameters[n] if n in parameters else getattr(self, n) for n in self._flat_weights_names]

    @property
    def _all_weights(self):
        suffixes = [suffix for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        return [[name for name in self._flat_weights_names if name.endswith(suffix)] for suffix in suffixes]

    @property
    def all_weights(self):
        """The weights, grouped by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Does nothing: weights need not lie side by side here."""

    # ---- checks

    def check_input(self, input, batch_sizes):
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _state_size(self, batch, width):
        return self.num_layers * (2 if self.bidirectional else 1), batch, width

    def get_expected_hidden_size(self, input, batch_sizes):
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self._state_size(batch, self.proj_size if self.proj_size > 0 else self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else apply_permutation(hx, permutation)

    # ---- forward; the state is a tuple of tensors in here, whatever the user sees

    _state_names = ("hx",)

    def _as_states(self, hx):
        return (hx,)

    def _as_user_state(self, states):
        return states[0]

    def _check_states(self, input, states, batch_sizes):
        self.check_forward_args(input, states[0], batch_sizes)

    def _zero_states(self, input, batch):
        width = self.proj_size if self.proj_size > 0 else self.hidden_size
        return (vivace.zeros(self._state_size(batch, width), dtype=input.dtype, device=input.device),)

    def forward(self, input, hx=None):
        from ..utils.rnn import PackedSequence

        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            if hx is None:
                states = self._zero_states(data, int(batch_sizes[0]))
            else:
                states = tuple(self.permute_hidden(s, sorted_indices) for s in self._as_states(hx))
            self._check_states(data, states, batch_sizes)
            output, states = self._run(data, states, batch_sizes)
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return output, self._as_user_state(tuple(self.permute_hidden(s, unsorted_indices) for s in states))
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            states = self._zero_states(input, input.size(batch_dim))
        else:
            states = self._as_states(hx)
            self._check_state_dims(states, batched)
            if not batched:
                states = tuple(s.unsqueeze(1) for s in states)
        self._check_states(input, states, None)
        output, states = self._run(input, states, None)
        if not batched:
            output = output.squeeze(batch_dim)
            states = tuple(s.squeeze(1) for s in states)
        return output, self._as_user_state(states)

    def _check_state_dims(self, states, batched):
        expected = 3 if batched else 2
        if any(s.dim() != expected for s in states):
            what = "batched 3-D" if batched else "unbatched 2-D"
            got = ", ".join(f"{s.dim()}-D" for s in states)
            names = " and ".join(self._state_names)
            got = f"({got}) tensors" if len(states) > 1 else f"{got} tensor"
            raise RuntimeError(f"For {what} input, {names} should also be {expected}-D but got {got}")

    def _run(self, input, states, batch_sizes):
        """The last layer's output and the last states; over packed data if there are batch sizes."""
        run = _NETWORKS[self.mode]
        hx = states if self.mode == "LSTM" else states[0]
        options = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        if batch_sizes is None:
            output, *states = run(input, hx, self._flat_weights, *options, self.batch_first)
        else:
            output, *states = run(input, batch_sizes, hx, self._flat_weights, *options)
        return output, tuple(states)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        return text + "".join(f", {k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v)


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it"""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if nonlinearity not in modes:
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(modes[nonlinearity], *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997)."""

    _state_names = ("hx", "cx")

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        batch = self.get_expected_hidden_size(input, batch_sizes)[1]
        return self._state_size(batch, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        sizes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for number, (state, size) in enumerate(zip(hidden, sizes, strict=True)):
            self.check_hidden_size(state, size, f"Expected hidden[{number}] size {{}}, got {{}}")

    def permute_hidden(self, hx, permutation):
        if isinstance(hx, tuple):
            return tuple(super(LSTM, self).permute_hidden(s, permutation) for s in hx)
        return super().permute_hidden(hx, permutation)

    def _as_states(self, hx):
        return tuple(hx)

    def _as_user_state(self, states):
        return states

    def _check_states(self, input, states, batch_sizes):
        self.check_forward_args(input, states, batch_sizes)

    def _zero_states(self, input, batch):
        size = self._state_size(batch, self.hidden_size)
        return (*super()._zero_states(input, batch), vivace.zeros(size, dtype=input.dtype, device=input.device))


class GRU(RNNBase):
    """Gated recurrent unit (Cho et al., 2014)."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent network."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(vivace.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(vivace.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(vivace.empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    reset_parameters = RNNBase.reset_parameters

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _states(self, input, states):
        """The states with a batch dimension, zeros where none are given; all sizes checked."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for state in states or ():
            if state.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {state.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        if states is None:
            shape = (*input.shape[:-1], self.hidden_size)
            zeros = vivace.zeros(shape, dtype=input.dtype, device=input.device)
            return zeros
        for number, state in enumerate(states):
            if input.dim() == 2 and state.dim() == 2 and state.size(0) != input.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden{number} batch size {state.size(0)}"
                )
            if state.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number} has inconsistent hidden_size: got {state.size(-1)}, expected {self.hidden_size}"
                )
        return states


class _OneStateCell(RNNCellBase):
    def forward(self, input, hx=None):
        state = self._states(input, None) if hx is None else self._states(input, (hx,))[0]
        return self._run()(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class RNNCell(_OneStateCell):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it"""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def _run(self):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return vivace.rnn_tanh_cell if self.nonlinearity == "tanh" else vivace.rnn_relu_cell


class GRUCell(_OneStateCell):
    """One step of a GRU."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def _run(self):
        return vivace.gru_cell


class LSTMCell(RNNCellBase):
    """One step of an LSTM; gives (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        states = self._states(input, hx)
        if hx is None:
            states = states, states
        return vivace.lstm_cell(input, states, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
