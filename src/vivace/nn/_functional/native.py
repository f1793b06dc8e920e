"""The operators that the extension gives to nn.functional, before Python adds `inplace` and the like."""

from vivace import _C

_C.install(globals(), "nn.functional")


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotImplementedError(f"vivace does not have the operator nn.functional.{name} yet")
