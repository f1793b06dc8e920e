"""Bessel functions and Airy's Ai."""

from functools import partial
from typing import Any

from catalogue.bessel_math import bessel_i, bessel_k, spherical_j0
from catalogue.dtypes import floating, int_to_float, single_or_double
from catalogue.kinds import unary
from catalogue.pointwise.arith import sign
from catalogue.pointwise.select import where
from catalogue.samples import one
from codegen.primitives import scalar

INF = float("inf")


_ALONE: dict[str, Any] = {"namespace": "special", "inplace": False}


def _bessel(name, kernel, doc, grad=None, *, low=-8.0, high=8.0, **options):
    return unary(
        name,
        result=int_to_float,
        dtypes=floating if grad else single_or_double,
        kernel=lambda a: scalar(kernel, a) if isinstance(kernel, str) else kernel(a),
        grad=grad,
        samples=one(low, high, requires_grad=grad is not None),
        doc=doc,
        **(_ALONE | options),
    )


i0 = _bessel(
    "i0",
    partial(bessel_i, 0, False),
    "The modified Bessel function of the first kind, of order 0.",
    lambda g, a: g * i1(a),
    namespace="torch",
    aliases="special.i0",
    inplace=True,
)
i0e = _bessel("i0e", partial(bessel_i, 0, True), "exp(-|a|) i0(a)", lambda g, a, y: g * (i1e(a) - sign(a) * y))
i1 = _bessel(
    "i1",
    partial(bessel_i, 1, False),
    "The modified Bessel function of the first kind, of order 1.",
    lambda g, a, y: g * where(a == 0, 0.5, i0(a) - y / where(a == 0, 1, a)),
)
i1e = _bessel(
    "i1e",
    partial(bessel_i, 1, True),
    "exp(-|a|) i1(a)",
    lambda g, a, y: g * where(a == 0, 0.5, i0e(a) - y * (sign(a) + 1 / where(a == 0, 1, a))),
)

# PyTorch gives no derivatives of the following.
for _order in "01":
    _bessel(f"bessel_j{_order}", f"bessel_j{_order}", f"The Bessel function of the first kind, of order {_order}.")
    _bessel(
        f"bessel_y{_order}",
        f"bessel_y{_order}",
        f"The Bessel function of the second kind, of order {_order}.",
        low=0.1,
    )
    _bessel(
        f"modified_bessel_i{_order}",
        partial(bessel_i, int(_order), False),
        f"The modified Bessel function of the first kind, of order {_order}.",
    )
    _bessel(
        f"modified_bessel_k{_order}",
        partial(bessel_k, int(_order), False),
        f"The modified Bessel function of the second kind, of order {_order}.",
        low=0.1,
    )
    _bessel(
        f"scaled_modified_bessel_k{_order}",
        partial(bessel_k, int(_order), True),
        f"exp(a) modified_bessel_k{_order}(a)",
        low=0.1,
    )
spherical_bessel_j0 = _bessel("spherical_bessel_j0", spherical_j0, "sin(a) / a, 1 at 0.")
airy_ai = _bessel("airy_ai", "airy_ai", "Airy's function Ai.")
