"""torch.nn: layers and what they are made of."""

from vivace._lazy import submodule

from . import functional, init, modules
from .modules import *
from .parameter import Buffer, Parameter

# Families that few programs use load with their first name.
_FAMILIES = {
    "attention": ("MultiheadAttention",),
    "rnn": ("GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"),
    "transformer": (
        "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
    ),
}  # fmt: skip
_LAZY = {name: f"vivace.nn.modules.{family}" for family, names in _FAMILIES.items() for name in names}


def __getattr__(name):
    if name in _LAZY:
        import importlib

        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    return submodule("vivace.nn", name)
