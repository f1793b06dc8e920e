// Derivatives of views that need more than one expression.
#include <algorithm>

#include "generated/formulas/view/dims.h"
#include "generated/formulas/view/parts.h"
#include "generated/formulas/view/regroup.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/index/join.h"
#include "generated/ops/index/select.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/view.h"

namespace vivace::formulas {
namespace {

/// Whether two indices may name one element: true unless each stride exceeds the reach of the smaller ones.
bool has_overlap(IntList sizes, IntList strides) {
  Dims order;
  for (int d = 0; d < int(sizes.size()); ++d)
    if (sizes[d] != 1) order.push(d);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
  int64_t reach = 0;
  for (int64_t d : order) {
    if (strides[d] <= reach) return true;
    reach += (sizes[d] - 1) * strides[d];
  }
  return false;
}

}  // namespace

TensorRef permute_backward(Tensor& g, IntList dims) {
  Dims inverse;
  inverse.n = int(dims.size());
  for (int i = 0; i < inverse.n; ++i) inverse[int(wrap_dim(dims[i], inverse.n))] = i;
  return ops::permute(g, inverse);
}

TensorRef narrow_backward(Tensor& g, IntList self_sizes, int64_t dim, int64_t start, int64_t length) {
  const int64_t d = wrap_dim(dim, int64_t(self_sizes.size())), first = start < 0 ? start + self_sizes[d] : start;
  return ops::slice_backward(g, self_sizes, d, first, first + length, 1);
}

TensorRef unbind_backward(TensorList g, int64_t dim) { return ops::stack(g, dim); }

TensorRef split_backward(TensorList g, int64_t dim) { return ops::cat(g, dim); }

TensorRef tensor_split_backward(TensorList g, IntList self_sizes, IntList indices, int64_t dim) {
  // Cuts may run backwards, so that pieces overlap or leave gaps: each piece goes back by itself.
  const int64_t d = wrap_dim(dim, int64_t(self_sizes.size())), size = self_sizes[d];
  TensorRef sum;
  int64_t from = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    const int64_t cut = i < indices.size() ? indices[i] : size;
    const int64_t to = std::clamp<int64_t>(cut < 0 ? cut + size : cut, 0, size);
    TensorRef piece = ops::slice_backward(*g[i], self_sizes, d, from, std::max(from, to), 1);
    sum = sum ? ops::add_Tensor(*sum, *piece) : piece;
    from = to;
  }
  return sum;
}

TensorRef as_strided_backward(Tensor& g, IntList base_sizes, IntList base_strides, int64_t base_offset, IntList sizes,
                              IntList strides, int64_t offset) {
  // Both layouts are index maps into the storage: add g up in a flat storage, then read the base's layout from it. An
  // element that the base itself shows several times shares its gradient equally among them.
  const auto extent = [](IntList lengths, IntList steps, int64_t first) {
    for (size_t d = 0; d < lengths.size(); ++d) first += (lengths[d] - 1) * steps[d];
    return first + 1;
  };
  if (g.numel() == 0 || count(base_sizes) == 0) return ops::zeros(base_sizes, g.dtype(), g.device());
  const int64_t first = std::min(offset, base_offset);
  const int64_t room = std::max(extent(sizes, strides, offset), extent(base_sizes, base_strides, base_offset)) - first;
  const TensorRef places = ops::arange(room, DType::Int64, g.device());
  const TensorRef out_places = ops::reshape(*ops::as_strided(*places, sizes, strides, offset - first), Dims{-1});
  TensorRef storage = ops::zeros(Dims{room}, g.dtype(), g.device());
  storage = ops::index_add(*storage, 0, *out_places, *ops::reshape(g, Dims{-1}), 1);
  const TensorRef in_places =
      ops::reshape(*ops::as_strided(*places, base_sizes, base_strides, base_offset - first), Dims{-1});
  if (in_places->numel() > 1 && has_overlap(base_sizes, base_strides)) {
    const TensorRef one_each = ops::ones(Dims{in_places->numel()}, g.dtype(), g.device());
    const TensorRef times = ops::index_add(*ops::zeros(Dims{room}, g.dtype(), g.device()), 0, *in_places, *one_each, 1);
    storage = ops::div_Tensor(*storage, *ops::clamp_min(*times, 1));
  }
  return ops::as_strided(*storage, base_sizes, base_strides, base_offset - first);
}

TensorRef as_strided_backward(Tensor& g, IntList self_layout, IntList size, IntList stride,
                              std::optional<int64_t> storage_offset) {
  const size_t n = self_layout.size() / 2;
  const int64_t offset = self_layout.back();
  return as_strided_backward(g, self_layout.first(n), self_layout.subspan(n, n), offset, size, stride,
                             storage_offset.value_or(offset));
}

}  // namespace vivace::formulas
