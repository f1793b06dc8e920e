"""torch.optim: optimizers. SGD, Adam and AdamW step in one native call; the others load when first named."""

from vivace._lazy import submodule

from .adam import Adam
from .adamw import AdamW
from .optimizer import Optimizer
from .sgd import SGD

_LAZY = {
    "ASGD": "asgd",
    "Adadelta": "adadelta",
    "Adagrad": "adagrad",
    "Adamax": "adamax",
    "LBFGS": "lbfgs",
    "NAdam": "nadam",
    "RAdam": "radam",
    "RMSprop": "rmsprop",
    "Rprop": "rprop",
}
__all__ = ["Adam", "AdamW", "Optimizer", "SGD", *_LAZY]


def __getattr__(name):
    if name in _LAZY:
        value = getattr(submodule("vivace.optim", _LAZY[name]), name)
        globals()[name] = value
        return value
    return submodule("vivace.optim", name)
