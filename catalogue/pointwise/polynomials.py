"""Orthogonal polynomials of a degree that is an operand, too. PyTorch gives no derivatives of them."""

from catalogue.dtypes import int_to_float, single_or_double
from catalogue.kinds import pointwise
from codegen.primitives import scalar


def _polynomial(name, function, doc, argument=lambda x: x):
    return pointwise(
        f"{name}(Tensor x, Tensor n) -> Tensor",
        f"{name}.x_scalar(Scalar x, Tensor n) -> Tensor",
        f"{name}.n_scalar(Tensor x, Scalar n) -> Tensor",
        namespace="special",
        out=True,
        result=int_to_float,
        dtypes=single_or_double,
        kernel=lambda x, n: scalar(function, argument(x), n),
        samples=lambda s: [
            s(s.t(3, 5, low=-1, high=1, requires_grad=False), s.ints(3, 5, low=-1, high=14)),
            s(s.t(4, 1, low=-2, high=2, requires_grad=False), s.values(0.0, 1.0, 2.9, 7.0, requires_grad=False)),
            s(s.values(-1.0, 0.0, 0.5, 1.0, requires_grad=False), 11),
            s(0.25, s.ints(4, high=12)),
        ],
        doc=f"{doc}, of degree n at x; n is cut to a whole number, and 0 comes out below 0.",
    )


for _letter, _kind in zip("tuvw", ("first", "second", "third", "fourth"), strict=True):
    _function, _doc = f"chebyshev_{_letter}", f"Chebyshev's polynomial of the {_kind} kind"
    _polynomial(f"chebyshev_polynomial_{_letter}", _function, _doc)
    _polynomial(f"shifted_chebyshev_polynomial_{_letter}", _function, f"{_doc} of 2x - 1", lambda x: x + x - 1)
hermite_h = _polynomial("hermite_polynomial_h", "hermite_h", "The physicists' Hermite polynomial")
hermite_he = _polynomial("hermite_polynomial_he", "hermite_he", "The probabilists' Hermite polynomial")
laguerre_l = _polynomial("laguerre_polynomial_l", "laguerre_l", "Laguerre's polynomial")
legendre_p = _polynomial("legendre_polynomial_p", "legendre_p", "Legendre's polynomial")
