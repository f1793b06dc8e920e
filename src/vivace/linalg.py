"""torch.linalg: the operators that the catalogue puts there."""

from vivace import _C

_C.install(globals(), "linalg")


class _LinAlgError(RuntimeError):
    """A matrix does not have what was asked for: an inverse, a Cholesky factor, eigenvalues that converge."""


LinAlgError = _C._LinAlgError = _LinAlgError


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.linalg.{name}")
