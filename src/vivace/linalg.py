"""torch.linalg: the operators that the catalogue puts there."""

from vivace import _C

_C.install(globals(), "linalg")


class LinAlgError(RuntimeError):
    """A matrix does not have what was asked for: an inverse, a Cholesky factor, eigenvalues that converge."""


_C._LinAlgError = LinAlgError  # programs catch it by this name too


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.linalg.{name}")
