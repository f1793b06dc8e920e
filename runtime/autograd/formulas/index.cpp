// Derivatives of joins, indexing and sorting.
#include <algorithm>

#include "generated/formulas/index/gather.h"
#include "generated/formulas/index/join.h"
#include "generated/formulas/index/select.h"
#include "generated/formulas/index/sort.h"
#include "generated/formulas/index/triangle.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/join.h"
#include "generated/ops/index/select.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/zeros.h"
#include "runtime/autograd/node.h"

namespace vivace::formulas {

/// `sizes` lists the tensors: for each its number of dims, then its sizes.
std::vector<TensorRef> cat_backward(Tensor& g, IntList sizes, int64_t dim) {
  std::vector<TensorRef> parts;
  const int64_t d = wrap_dim(dim, g.dim());
  int64_t start = 0;
  for (size_t at = 0; at < sizes.size();) {
    const size_t ndim = size_t(sizes[at]);
    const IntList own = sizes.subspan(at + 1, ndim);
    at += 1 + ndim;
    if (ndim == 1 && own[0] == 0) {
      parts.push_back(ops::zeros(own, g.dtype(), g.device()));
      continue;
    }
    parts.push_back(ops::narrow(g, d, start, own[size_t(d)]));
    start += own[size_t(d)];
  }
  return parts;
}
std::vector<TensorRef> stack_backward(Tensor& g, int64_t dim) { return ops::unbind_int(g, dim); }

TensorRef repeat_backward(Tensor& g, IntList self_sizes, IntList repeats) {
  if (g.numel() == 0) return ops::zeros(self_sizes, g.dtype(), g.device());
  Dims pairs, repeated;
  const int lead = int(repeats.size() - self_sizes.size());
  for (int d = 0; d < int(repeats.size()); ++d) {
    if (d < lead || repeats[d] != 1) {
      repeated.push(pairs.n);
      pairs.push(repeats[d]);
    }
    if (d >= lead) pairs.push(self_sizes[d - lead]);
  }
  if (repeated.n == 0) return TensorRef::share(&g);
  if (pairs.n > kMaxDims) fail("repeat: too many dims to differentiate");
  return ops::sum_dim_IntList(*ops::reshape(g, pairs), IntList(repeated), false, std::nullopt);
}

TensorRef roll_backward(Tensor& g, IntList shifts, IntList dims) {
  Dims back(shifts);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t n = dims.empty() ? g.numel() : g.size(dims[i]);
    back[i] = n ? -(shifts[i] % n) : 0;
  }
  return ops::roll(g, back, dims);
}

namespace {

TensorRef zeros_of(Tensor& g, IntList sizes) { return ops::zeros(sizes, g.dtype(), g.device()); }

}  // namespace

TensorRef gather_backward(Tensor& g, IntList self_sizes, int64_t dim, Tensor& index) {
  return scattered(g, self_sizes, dim, index);
}
TensorRef scatter_backward(Tensor& g, int64_t dim, Tensor& index) {
  return ops::scatter_value(g, dim, index, Scalar(0));
}

std::tuple<TensorRef, TensorRef, TensorRef> scatter_reduce_backward(Tensor& g, Tensor& self, int64_t dim, Tensor& index,
                                                                    Tensor& src, std::string_view reduce,
                                                                    bool include_self, Tensor& y, Needs) {
  TensorRef to_self, to_src;
  const auto hits = [&](Tensor& start) {
    return ops::scatter_add(start, dim, index, *ops::ones_like(src, std::nullopt, std::nullopt, std::nullopt));
  };
  const auto ones_or_zeros = [&] {
    return include_self ? ops::ones_like(self, std::nullopt, std::nullopt, std::nullopt)
                        : ops::zeros_like(self, std::nullopt, std::nullopt, std::nullopt);
  };
  if (reduce == "sum") {
    to_self = TensorRef::share(&g);
    to_src = ops::gather(g, dim, index, false);
  } else if (reduce == "mean") {
    const TensorRef share = ops::div_Tensor(g, *ops::clamp_min(*hits(*ones_or_zeros()), Scalar(1)));
    to_self = share;
    to_src = ops::gather(*share, dim, index, false);
  } else if (reduce == "amax" || reduce == "amin") {
    // Shared equally among all that equal the result, self included if it took part.
    const TensorRef self_equal = ops::_to_copy(*ops::eq_Tensor(self, y), g.dtype(), std::nullopt, std::nullopt);
    const TensorRef chosen = ops::gather(y, dim, index, false);
    const TensorRef src_equal = ops::_to_copy(*ops::eq_Tensor(src, *chosen), g.dtype(), std::nullopt, std::nullopt);
    const TensorRef start = include_self ? self_equal : ops::zeros_like(self, std::nullopt, std::nullopt, std::nullopt);
    const TensorRef times = ops::clamp_min(*ops::scatter_add(*start, dim, index, *src_equal), Scalar(1));
    const TensorRef share = ops::div_Tensor(g, *times);
    to_self = ops::mul_Tensor(*self_equal, *share);
    to_src = ops::mul_Tensor(*src_equal, *ops::gather(*share, dim, index, false));
  } else {
    // Divide the product by the element; in the place of an element that is the only 0 of its product, stands a 1.
    const TensorRef self_zero = ops::eq_Scalar(self, Scalar(0)), src_zero = ops::eq_Scalar(src, Scalar(0));
    const TensorRef self_or_one = ops::masked_fill_Scalar(self, *self_zero, Scalar(1));
    const TensorRef by_self = ops::scatter_reduce_two(*self_or_one, dim, index, src, reduce, include_self);
    to_self = ops::div_Tensor(*ops::mul_Tensor(g, *by_self), *self_or_one);
    const TensorRef zeros =
        ops::gather(*ops::scatter_add(*ops::zeros_like(self, DType::Int64, std::nullopt, std::nullopt), dim, index,
                                      *ops::to_dtype(*src_zero, DType::Int64)),
                    dim, index, false);
    const TensorRef only_zero = ops::logical_and(*src_zero, *ops::eq_Scalar(*zeros, Scalar(1)));
    const TensorRef src_or_one = ops::masked_fill_Scalar(src, *only_zero, Scalar(1));
    const TensorRef by_src = ops::scatter_reduce_two(self, dim, index, *src_or_one, reduce, include_self);
    const TensorRef of_others = ops::gather(*ops::mul_Tensor(g, *by_src), dim, index, false);
    const TensorRef of_all = ops::gather(*ops::mul_Tensor(g, y), dim, index, false);
    const TensorRef divided = ops::div_Tensor(*of_all, *ops::masked_fill_Scalar(src, *src_zero, Scalar(1)));
    to_src = ops::where_self(*only_zero, *of_others, *divided);
  }
  if (!include_self) to_self = ops::scatter_value(*to_self, dim, index, Scalar(0));
  return {std::move(to_self), TensorRef(), std::move(to_src)};
}

TensorRef index_backward(Tensor& g, IntList self_sizes, TensorList indices) {
  return put_added(g, self_sizes, indices);
}
TensorRef index_put_backward(Tensor& g, TensorList indices, bool accumulate) {
  if (accumulate) return TensorRef::share(&g);
  return ops::index_put(g, indices, *ops::zeros(Dims{}, g.dtype(), g.device()), false);
}
TensorRef index_select_backward(Tensor& g, IntList self_sizes, int64_t dim, Tensor& index) {
  return slices_added(g, self_sizes, dim, index);
}
TensorRef index_add_source_backward(Tensor& g, int64_t dim, Tensor& index, Tensor& source, const Scalar& alpha) {
  const TensorRef part = ops::reshape(*ops::index_select(g, dim, index), source.sizes());
  return ops::mul_Scalar(*part, is_complex(g.dtype()) ? Scalar(alpha.to_double(), -alpha.imag_part()) : alpha);
}
TensorRef index_fill_self_backward(Tensor& g, int64_t dim, Tensor& index) {
  return ops::index_fill_int_Scalar(g, dim, index, Scalar(0));
}
TensorRef index_fill_value_backward(Tensor& g, int64_t dim, Tensor& index) {
  // By positions, not by indices: an index that stands there twice fills once.
  const TensorRef nowhere = ops::zeros(Dims(g.sizes()), DType::Bool, g.device());
  const TensorRef filled = ops::index_fill_int_Scalar(*nowhere, dim, index, Scalar(1));
  return ops::sum(*ops::masked_fill_Scalar(g, *ops::logical_not(*filled), Scalar(0)), std::nullopt);
}
TensorRef index_copy_source_backward(Tensor& g, int64_t dim, Tensor& index, Tensor& source) {
  return ops::reshape(*ops::index_select(g, dim, index), source.sizes());
}
TensorRef take_backward(Tensor& g, IntList self_sizes, Tensor& index) {
  return ops::put(*zeros_of(g, self_sizes), index, g, true);
}
TensorRef put_self_backward(Tensor& g, Tensor& index, Tensor& source, bool accumulate) {
  if (accumulate) return TensorRef::share(&g);
  return ops::put(g, index, *ops::zeros_like(source, g.dtype(), std::nullopt, std::nullopt), false);
}
TensorRef put_source_backward(Tensor& g, Tensor& index, Tensor& source) {
  return ops::reshape(*ops::take(g, index), source.sizes());
}

TensorRef masked_select_backward(Tensor& g, Tensor& self, Tensor& mask) {
  const Dims sizes = broadcast_sizes(self.sizes(), mask.sizes());
  return ops::masked_scatter(*zeros_of(g, sizes), *ops::expand(mask, sizes, false), g);
}
TensorRef masked_scatter_source_backward(Tensor& g, Tensor& mask, IntList source_sizes) {
  const TensorRef used = ops::masked_select(g, mask);
  const int64_t rest = count(source_sizes) - used->numel();
  if (rest == 0) return ops::reshape(*used, source_sizes);
  const TensorRef unused = ops::zeros(Dims{rest}, g.dtype(), g.device());
  Tensor* parts[] = {used.get(), unused.get()};
  return ops::reshape(*ops::cat(parts, 0), source_sizes);
}

TensorRef trace_backward(Tensor& g, IntList self_sizes) {
  const Dims length{std::min(self_sizes[0], self_sizes[1])};
  return ops::diagonal_backward(*ops::expand(g, length, false), self_sizes, 0, 0, 1);
}

TensorRef sort_backward(Tensor& g, IntList self_sizes, Tensor& indices, int64_t dim) {
  if (self_sizes.empty()) return TensorRef::share(&g);
  return scattered(g, self_sizes, dim, indices);
}

}  // namespace vivace::formulas
