"""Order statistics between elements, histograms, membership and hashes."""

from catalogue.kinds import composite, op

_AT = "int? dim=None, bool keepdim=False, *, str interpolation='linear'"
for _name, _doc in (("quantile", "The q-th quantiles"), ("nanquantile", "The q-th quantiles of what is not NaN")):
    composite(
        f"{_name}(Tensor self, Tensor q, {_AT}) -> Tensor",
        kernel=_name,
        autocast="float32",
        out=True,
        samples=lambda s: [
            s(s.t(3, 5), s.values(0.0, 0.3, 1.0, requires_grad=False)),
            s(s.t(3, 5), s.values(0.3, 0.75, requires_grad=False), 1, interpolation="midpoint"),
            s(s.t(3, 5), s.values(0.6, shape=(), requires_grad=False), 0, True, interpolation="nearest"),
        ],
        doc=f"{_doc} of all elements or along `dim`; q's dimension comes first.",
    )
    composite(
        f"{_name}.scalar(Tensor self, float q, {_AT}) -> Tensor",
        kernel=f"{_name}_scalar",
        autocast="float32",
        out=True,
        samples=lambda s: [
            s(s.t(3, 5), 0.4),
            s(s.t(3, 5), 0.4, 1, interpolation="lower"),
            s(s.t(3, 5), 0.5, -1, True, interpolation="higher"),
        ],
        doc=f"{_doc} of all elements or along `dim`; q's dimension comes first.",
    )

isin = op(
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False)"
    " -> Tensor",
    kernel="isin",
    variants="function",
    out=True,
    samples=lambda s: [
        s(s.ints(3, 4), s.values(1, 3, 7, dtype="int64")),
        s(s.values(1.0, 2.0, requires_grad=False), s.values(2.0, requires_grad=False), invert=True),
    ],
    doc="Whether each element is among the test elements (is not, for invert).",
)
isin_scalar = composite(
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False)"
    " -> Tensor",
    kernel="isin_Tensor_Scalar",
    variants="function",
    out=True,
    samples=lambda s: [s(s.ints(3, 4), 3)],
    doc=isin.doc,
)
isin_of_scalar = composite(
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False)"
    " -> Tensor",
    kernel="isin_Scalar_Tensor",
    variants="function",
    out=True,
    samples=lambda s: [s(3, s.ints(5))],
    doc=isin.doc,
)

histogram_counts = op(
    "_histogram(Tensor self, Tensor[] edges, Tensor? weight) -> Tensor",
    kernel="histogram_counts",
    variants="function",
    doc="How many rows of a matrix (or the sum of their weights) fall into each box of a grid of edges.",
)
_HISTOGRAM = "Tensor? weight=None, bool density=False"
histogram = composite(
    f"histogram.bins_tensor(Tensor self, Tensor bins, *, {_HISTOGRAM}) -> (Tensor, Tensor)",
    kernel="histogram_bins_tensor",
    out=True,
    names=("hist", "bin_edges"),
    return_type="histogram",
    samples=lambda s: [s(s.t(10, requires_grad=False), s.values(-2.0, 0.0, 0.5, 3.0, requires_grad=False))],
    doc="How many elements fall into each bin, or the sum of their weights; of equal bins, or between given edges.",
)
histogram_count = composite(
    f"histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, {_HISTOGRAM}) -> (Tensor, Tensor)",
    kernel="histogram_bin_ct",
    out=True,
    names=("hist", "bin_edges"),
    return_type="histogram",
    samples=lambda s: [
        s(s.t(3, 4, requires_grad=False), 5),
        s(s.t(10, requires_grad=False), 4, range=(-1.0, 2.0), weight=s.t(10, requires_grad=False), density=True),
    ],
    doc=histogram.doc,
)

nonzero_static = op(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    kernel="nonzero_static",
    out=True,
    samples=lambda s: [s(s.ints(3, 4, high=2), size=3), s(s.ints(5, high=2), size=7, fill_value=9)],
    doc="The first `size` rows of nonzero(), completed by fill_value.",
)
hash_tensor = op(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    kernel="hash_tensor",
    out=True,
    samples=lambda s: [s(s.ints(3, 4)), s(s.t(3, 4, requires_grad=False), 1), s(s.ints(2, 3), (0, 1), keepdim=True)],
    doc="The exclusive or, as uint64, of the bits of all elements (along `dim`), as int64 or float64.",
)
index_reduce = composite(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    kernel="index_reduce",
    inplace=True,
    out=True,
    samples=lambda s: [
        s(s.t(4, 3), 0, s.values(0, 2, 2, dtype="int64"), s.t(3, 3), how, include_self=own)
        for how, own in (("prod", True), ("mean", False), ("amax", True), ("amin", False))
    ],
    doc="Reduces the slices of source into those that index names, by prod, mean, amax or amin.",
)
