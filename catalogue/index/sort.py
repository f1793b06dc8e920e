"""Order: sort, topk, median and mode, binary search, unique elements and counts."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_PAIR = ("values", "indices")
_TIES = lambda s: s.values(3, 1, 2, 1, 3, 0, shape=(2, 3))

for _schema, _kernel in (
    ("sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False)", "sort_stable"),
    ("sort(Tensor self, int dim=-1, bool descending=False)", "sort"),
):
    op(
        f"{_schema} -> (Tensor, Tensor)",
        kernel=_kernel,
        out=True,
        names=_PAIR,
        return_type="sort",
        nondiff=(1,),
        grad=lambda g0, self_sizes, y1, dim: cpp.sort_backward(g0, self_sizes, y1, dim),
        samples=(lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 0, True), s(s.t())])
        if _kernel == "sort"
        else (lambda s: [s(_TIES(s), stable=True, dim=1), s(_TIES(s), stable=True, descending=True)]),
        doc="The elements along `dim` in order, and where they came from. Equals keep their order; NaN is the largest.",
    )
for _schema, _kernel in (
    ("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False)", "argsort_stable"),
    ("argsort(Tensor self, int dim=-1, bool descending=False)", "argsort"),
):
    composite(
        f"{_schema} -> Tensor",
        kernel=_kernel,
        out=_kernel == "argsort_stable",
        samples=(lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 0, True)])
        if _kernel == "argsort"
        else (lambda s: [s(_TIES(s), stable=True)]),
        doc="The indices that sort() returns.",
    )
msort = composite(
    "msort(Tensor self) -> Tensor",
    body=lambda self: self.sort(0)[0],
    out=True,
    samples=lambda s: [s(s.t(3, 4))],
    doc="sort() along the first dimension.",
)
topk = op(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor, Tensor)",
    kernel="topk",
    out=True,
    names=_PAIR,
    return_type="topk",
    nondiff=(1,),
    grad=lambda g0, self_sizes, y1, dim: cpp.sort_backward(g0, self_sizes, y1, dim),
    samples=lambda s: [s(s.t(3, 4), 2), s(s.t(3, 4), 2, 0, False), s(s.t(), 1)],
    doc="The k largest (or smallest) elements along `dim` in order, and where they are.",
)
kthvalue = op(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
    kernel="kthvalue",
    out=True,
    names=_PAIR,
    return_type="kthvalue",
    nondiff=(1,),
    grad=lambda g0, self_sizes, y1, dim, keepdim: cpp.select_along_backward(g0, self_sizes, y1, dim, keepdim),
    samples=lambda s: [s(s.t(3, 4), 2), s(s.t(3, 4), 1, 0, True), s(s.t(), 1)],
    doc="The k-th smallest element along `dim`, and where it is.",
)
for _name, _doc in (("median", "The lower median"), ("nanmedian", "The lower median of what is not NaN")):
    op(
        f"{_name}(Tensor self) -> Tensor",
        kernel=_name,
        grad=lambda g, self, y: cpp.max_backward(g, self, y),
        samples=lambda s: [s(s.t(3, 5)), s(s.t(4)), s(s.t())],
        doc=f"{_doc}; along `dim` also its index.",
    )
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
        kernel=f"{_name}_dim",
        out=True,
        names=_PAIR,
        return_type=_name,
        nondiff=(1,),
        grad=lambda g0, self_sizes, y1, dim, keepdim: cpp.select_along_backward(g0, self_sizes, y1, dim, keepdim),
        samples=lambda s: [s(s.t(3, 5), 1), s(s.t(3, 4), 0, True), s(s.t(), 0)],
        doc=f"{_doc}; along `dim` also its index.",
    )
mode = op(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
    kernel="mode",
    out=True,
    names=_PAIR,
    return_type="mode",
    nondiff=(1,),
    grad=lambda g0, self_sizes, y1, dim, keepdim: cpp.select_along_backward(g0, self_sizes, y1, dim, keepdim),
    samples=lambda s: [s(s.values(1, 2, 2, 3, 3, 3, shape=(2, 3))), s(s.values(1, 1, 2, 2)), s(s.t())],
    doc="The most frequent element along `dim` (of several the smallest), and where it is last.",
)

_BUCKETS = "bool out_int32=False, bool right=False"
_SEARCH = f"{_BUCKETS}, str? side=None, Tensor? sorter=None"
searchsorted = op(
    f"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, {_SEARCH}) -> Tensor",
    kernel="searchsorted_Tensor",
    variants="function",
    out=True,
    samples=lambda s: [s(s.values(1.0, 2.0, 3.0), s.t(2, 3)), s(s.values(1.0, 2.0, 2.0), s.values(2.0), right=True)],
    doc="Where values would have to be put in to keep a sequence sorted: before (or after, for right) equal elements.",
)
searchsorted_scalar = composite(
    f"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, {_SEARCH}) -> Tensor",
    kernel="searchsorted_Scalar",
    variants="function",
    samples=lambda s: [s(s.values(1.0, 2.0, 3.0), 2.5)],
    doc=searchsorted.doc,
)
bucketize = composite(
    f"bucketize.Tensor(Tensor self, Tensor boundaries, *, {_BUCKETS}) -> Tensor",
    kernel="bucketize_Tensor",
    variants="function",
    out=True,
    samples=lambda s: [s(s.t(2, 3), s.values(-1.0, 0.0, 1.0)), s(s.values(0.0), s.values(-1.0, 0.0), right=True)],
    doc="The bucket between sorted boundaries that each value falls into.",
)
bucketize_scalar = composite(
    f"bucketize.Scalar(Scalar self, Tensor boundaries, *, {_BUCKETS}) -> Tensor",
    kernel="bucketize_Scalar",
    variants="function",
    samples=lambda s: [s(0.5, s.values(-1.0, 0.0, 1.0))],
    doc=bucketize.doc,
)

unique = op(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None)"
    " -> (Tensor, Tensor, Tensor)",
    kernel="_unique",
    structured=False,
    variants="function",
    doc="The distinct elements (slices along dim), which of them each element is, and how often each occurs.",
)
unique_consecutive = op(
    "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None)"
    " -> (Tensor, Tensor, Tensor)",
    kernel="_unique_consecutive",
    structured=False,
    variants="function",
    doc="As _unique, of runs of equal elements.",
)
bincount = op(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    kernel="bincount",
    structured=False,
    samples=lambda s: [s(s.ints(6, high=4)), s(s.ints(4, high=3), s.t(4, requires_grad=False), 5)],
    doc="How often each number from 0 occurs, or the sum of their weights.",
)
histc = op(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    kernel="histc",
    out=True,
    samples=lambda s: [s(s.t(3, 4, requires_grad=False), 4, -3, 3), s(s.t(10, requires_grad=False), 5)],
    doc="How many elements fall into each of `bins` equal bins between min and max (of the elements if both are 0).",
)
