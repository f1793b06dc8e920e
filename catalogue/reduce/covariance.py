"""Covariances and correlations of the rows of a matrix."""

import numpy as np

from catalogue.dtypes import numeric
from catalogue.kinds import composite

cov = composite(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    kernel="cov",
    dtypes=numeric,
    samples=lambda s: [
        s(s.t(3, 5)),
        s(s.t(5)),
        s(s.t(2, 5), correction=0),
        s(s.t(2, 3), fweights=s.ints(3, low=1), aweights=s.t(3, low=0.1, requires_grad=False)),
    ],
    doc="The covariances of rows, whose columns are observations: fweights times, with the weights aweights.",
)
corrcoef = composite(
    "corrcoef(Tensor self) -> Tensor",
    kernel="corrcoef",
    dtypes=numeric,
    ref=np.corrcoef,
    samples=lambda s: [s(s.t(3, 5)), s(s.t(5))],
    doc="The correlations of rows: their covariances, divided by their standard deviations.",
)
