"""torch.optim: optimizers. SGD, Adam and AdamW step in one native call; each loads when first named."""

from vivace._lazy import lazily

_NAMES = (
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD",
)  # fmt: skip
_HOME = {name: f"vivace.optim.{name.lower()}" for name in _NAMES}
__all__ = list(_HOME)

__getattr__ = lazily("vivace.optim", _HOME)
