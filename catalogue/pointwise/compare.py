"""Comparisons."""

import numpy as np

from catalogue.dtypes import floating_or_complex, real_or_bool
from catalogue.kinds import compare, composite, pointwise
from catalogue.samples import pairs

_samples = pairs(-2, 2)
eq = compare("eq", operator="==", kernel=lambda a, b: a == b, ref=np.equal, samples=_samples, doc="a == b")
ne = compare(
    "ne",
    operator="!=",
    aliases="not_equal",
    kernel=lambda a, b: a != b,
    ref=np.not_equal,
    samples=_samples,
    doc="a != b",
)
lt = compare(
    "lt",
    operator="<",
    aliases="less",
    dtypes=real_or_bool,
    kernel=lambda a, b: a < b,
    ref=np.less,
    samples=_samples,
    doc="a < b",
)
le = compare(
    "le",
    operator="<=",
    aliases="less_equal",
    dtypes=real_or_bool,
    kernel=lambda a, b: a <= b,
    ref=np.less_equal,
    samples=_samples,
    doc="a <= b",
)
gt = compare(
    "gt",
    operator=">",
    aliases="greater",
    dtypes=real_or_bool,
    kernel=lambda a, b: a > b,
    ref=np.greater,
    samples=_samples,
    doc="a > b",
)
ge = compare(
    "ge",
    operator=">=",
    aliases="greater_equal",
    dtypes=real_or_bool,
    kernel=lambda a, b: a >= b,
    ref=np.greater_equal,
    samples=_samples,
    doc="a >= b",
)


def _isclose(self, other, rtol, atol, equal_nan):
    close = self == other
    if equal_nan:
        close = close | ((self != self) & (other != other))
    distance = abs(self - other)
    return close | ((distance <= atol + abs(rtol * other)) & (distance < float("inf")))


_TOLERANCES = "float rtol=1e-05, float atol=1e-08, bool equal_nan=False"
isclose_floating = pointwise(
    f"isclose_floating(Tensor self, Tensor other, {_TOLERANCES}) -> Tensor",
    namespace="private",
    choices={"equal_nan": (False, True)},
    result=eq.result,
    dtypes=floating_or_complex,
    kernel=_isclose,
    doc="isclose() of floating or complex tensors.",
)
isclose = composite(
    f"isclose(Tensor self, Tensor other, {_TOLERANCES}) -> Tensor",
    kernel="isclose",
    ref=np.isclose,
    samples=lambda s: [
        s(s.t(3, 5), s.t(3, 5)),
        s(s.t(7), s.t(7), rtol=0.5, atol=0.1),
        s(s.ints(3, 5), s.ints(3, 5), rtol=0.25, atol=1),
        s(s.mask(5), s.mask(5), atol=1),
    ],
    doc="|self - other| <= atol + rtol * |other|",
)
