"""torch.optim: optimizers. SGD, Adam and AdamW step in one native call; each loads when first named."""

from vivace._lazy import lazily

_NAMES = (
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD",
)  # fmt: skip
# PyTorch keeps the newer ones in private modules; pickles name the package.
_HOME = {name: f"vivace.optim.{'_' * (name in ('Adafactor', 'Muon'))}{name.lower()}" for name in _NAMES}
__all__ = list(_HOME)

__getattr__, __dir__ = lazily("vivace.optim", _HOME)
