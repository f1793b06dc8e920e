"""torch.nn: layers and what they are made of."""

from vivace._lazy import submodule

from .modules import *
from .parameter import Buffer, Parameter
from . import functional, init, modules

# Families that few programs use load with their first name.
_LAZY = {
    name: "vivace.nn.modules.rnn"
    for name in ("GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase")
}


def __getattr__(name):
    if name in _LAZY:
        import importlib

        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    return submodule("vivace.nn", name)
