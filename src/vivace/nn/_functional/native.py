"""The operators that the extension gives to nn.functional, before Python adds `inplace` and the like."""

from vivace import _C

_C.install(globals(), "nn.functional")
