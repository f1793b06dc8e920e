"""torch.special: the operators that the catalogue puts there."""

from vivace import _C

_C.install(globals(), "special")


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.special.{name}")
