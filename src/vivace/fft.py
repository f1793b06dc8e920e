"""torch.fft: the transforms that the catalogue puts there, and their frequencies."""

import vivace
from vivace import _C

_C.install(globals(), "fft")


def _frequencies(name, order, n, d, out, dtype, **options):
    dtype = dtype or (out.dtype if out is not None else vivace.get_default_dtype())
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    result = (order.to(dtype) * (1.0 / (n * d)) if n else order.to(dtype)).to(**options)
    return result if out is None else out.resize_(result.shape).copy_(result)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of fft() of n numbers that lie d apart: 0, 1, ..., -2, -1, over n d."""
    order = vivace.arange(n)
    order = vivace.where(order < (n + 1) // 2, order, order - n)
    return _frequencies("fftfreq", order, n, d, out, dtype, device=device).requires_grad_(requires_grad)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of rfft(): 0 to n // 2, over n d."""
    order = vivace.arange(n // 2 + 1)
    return _frequencies("rfftfreq", order, n, d, out, dtype, device=device).requires_grad_(requires_grad)


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.fft.{name}")
