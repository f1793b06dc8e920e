// Quantiles by sorting, histograms over edges, membership of numbers, and reductions into indexed slices.
#include <algorithm>
#include <cmath>

#include "generated/kernels/index/statistics.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/sort.h"
#include "generated/ops/index/statistics.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/rounding.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/extremes.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/scan/cumulative.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/composite/value.h"

namespace vivace::composite {
namespace {

using Dim = std::optional<int64_t>;

/// Quantiles of the last dim of `x` at a vector q: the result has q's dim last.
TensorRef quantiles_of_rows(Tensor& x, Tensor& q, std::string_view interpolation, bool skips_nan) {
  const TensorRef sorted = std::get<0>(ops::sort(x, -1, false));  // NaN last
  const TensorRef last = [&] {
    const TensorRef is_nan = ops::isnan(x);
    if (skips_nan) {
      const TensorRef count = ops::sum_dim_IntList(*ops::logical_not(*is_nan), kInts<-1>, true, std::nullopt);
      return ops::to_dtype(*ops::clamp_min(*ops::sub_Scalar(*count, 1), 0), q.dtype());
    }
    return scalar_tensor(double(x.size(-1) - 1), q.dtype(), q.device());
  }();
  TensorRef rank = ops::mul_Tensor(q, *last);
  if (!skips_nan) {  // a row with NaN has it at its end
    const TensorRef spoilt = ops::any_dim(*ops::isnan(x), -1, true);
    rank = ops::where_self(*spoilt, *last, *rank);
  }
  Dims sizes(sorted->sizes());
  sizes[sizes.n - 1] = q.numel();
  rank = ops::expand(*rank, sizes, false);
  if (interpolation == "lower") rank = ops::floor(*rank);
  if (interpolation == "higher") rank = ops::ceil(*rank);
  if (interpolation == "nearest") rank = ops::round(*rank);
  const TensorRef below_at = ops::to_dtype(*rank, DType::Int64);
  const TensorRef below = ops::gather(*sorted, -1, *below_at, false);
  if (interpolation != "linear" && interpolation != "midpoint") return below;
  const TensorRef above = ops::gather(*sorted, -1, *ops::to_dtype(*ops::ceil(*rank), DType::Int64), false);
  if (interpolation == "midpoint") return ops::lerp_Scalar(*below, *above, 0.5);
  return ops::lerp_Tensor(*below, *above, *ops::sub_Tensor(*rank, *ops::to_dtype(*below_at, rank->dtype())));
}

TensorRef quantiles(const char* name, Tensor& self, Tensor& q, Dim dim, bool keepdim, std::string_view interpolation,
                    bool skips_nan) {
  if (self.numel() == 0) fail(name, "() input tensor must be non-empty");
  if (q.dim() > 1) fail(name, "() q must be a scalar or 1D tensor");
  if (self.dtype() != DType::Float32 && self.dtype() != DType::Float64)
    fail(name, "() input tensor must be either float or double dtype");
  if (self.dtype() != q.dtype()) fail(name, "() q tensor must be same dtype as the input tensor");
  if (interpolation != "linear" && interpolation != "lower" && interpolation != "higher" &&
      interpolation != "midpoint" && interpolation != "nearest")
    fail(name, "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", interpolation);
  if (!q.is_meta()) {
    const TensorRef inside = ops::logical_and(*ops::ge_Scalar(q, 0), *ops::le_Scalar(q, 1));
    if (has_values(*inside) && !value_of(*ops::all(*inside)).to_bool())
      fail(name, "() q values must be in the range [0, 1]");
  }
  const int64_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  const TensorRef flat =
      dim && self.dim() ? ops::transpose_int(*ops::unsqueeze(self, -1), d, -1) : ops::reshape(self, Dims{-1});
  const TensorRef row_of_q = ops::reshape(q, Dims{-1});
  TensorRef result = quantiles_of_rows(*flat, *row_of_q, interpolation, skips_nan);
  result = ops::movedim_int(*result, -1, 0);  // q's dim first; the one that is reduced at its old place, or gone
  if (!dim) {
    Dims ones{q.numel()};
    for (int64_t k = 0; keepdim && k < self.dim(); ++k) ones.push(1);
    result = ops::reshape(*result, ones);
  } else if (self.dim() == 0) {
    result = ops::reshape(*result, Dims{q.numel()});
  } else if (!keepdim) {
    result = ops::squeeze_dim(*result, d + 1);
  }
  return q.dim() == 0 ? ops::squeeze_dim(*result, 0) : result;
}

TensorRef quantile_at(const char* name, Tensor& self, double q, Dim dim, bool keepdim, std::string_view interpolation,
                      bool skips_nan) {
  if (!(q >= 0 && q <= 1)) fail(name, "() q must be in the range [0, 1] but got ", q);
  const TensorRef at = scalar_tensor(q, self.dtype(), self.device());
  return quantiles(name, self, *at, dim, keepdim, interpolation, skips_nan);
}

std::tuple<TensorRef, TensorRef> histogram(Tensor& self, TensorRef edges, Tensor* weight, bool density) {
  const TensorRef column = ops::reshape(self, Dims{-1, 1});
  const TensorRef weights = weight ? ops::reshape(*weight, Dims{-1}) : TensorRef();
  Tensor* const list[] = {edges.get()};
  TensorRef counts = ops::_histogram(*column, list, weights.get());
  if (density) {
    const TensorRef widths = ops::diff(*edges, 1, -1, nullptr, nullptr);
    counts = ops::div_Tensor(*ops::div_Tensor(*counts, *ops::sum(*counts, std::nullopt)), *widths);
  }
  return {std::move(counts), std::move(edges)};
}

void check_histogram_input(const Tensor& self) {
  if (!is_floating(self.dtype()))
    fail_not_implemented("\"histogram_cpu\" not implemented for '", scalar_type_name(self.dtype()), "'");
}

}  // namespace

TensorRef quantile(Tensor& self, Tensor& q, Dim dim, bool keepdim, std::string_view interpolation) {
  return quantiles("quantile", self, q, dim, keepdim, interpolation, false);
}
TensorRef quantile_scalar(Tensor& self, double q, Dim dim, bool keepdim, std::string_view interpolation) {
  return quantile_at("quantile", self, q, dim, keepdim, interpolation, false);
}
TensorRef nanquantile(Tensor& self, Tensor& q, Dim dim, bool keepdim, std::string_view interpolation) {
  return quantiles("nanquantile", self, q, dim, keepdim, interpolation, true);
}
TensorRef nanquantile_scalar(Tensor& self, double q, Dim dim, bool keepdim, std::string_view interpolation) {
  return quantile_at("nanquantile", self, q, dim, keepdim, interpolation, true);
}

TensorRef isin_Tensor_Scalar(Tensor& elements, const Scalar& test_element, bool, bool invert) {
  return invert ? ops::ne_Scalar(elements, test_element) : ops::eq_Scalar(elements, test_element);
}
TensorRef isin_Scalar_Tensor(const Scalar& element, Tensor& test_elements, bool, bool invert) {
  const TensorRef found = ops::any(*ops::eq_Scalar(test_elements, element));
  return invert ? ops::logical_not(*found) : found;
}

std::tuple<TensorRef, TensorRef> histogram_bins_tensor(Tensor& self, Tensor& bins, Tensor* weight, bool density) {
  check_histogram_input(self);
  return histogram(self, ops::clone(bins, std::nullopt), weight, density);
}

std::tuple<TensorRef, TensorRef> histogram_bin_ct(Tensor& self, int64_t bins,
                                                  std::optional<std::span<const double>> range, Tensor* weight,
                                                  bool density) {
  check_histogram_input(self);
  if (bins <= 0) fail("torch.histogram(): bins must be > 0, but got ", bins);
  if (bins == INT64_MAX) fail("torch.histogram(): ", bins, " bins are more than memory can hold");
  double low = 0, high = 1;
  if (!range && self.is_meta())
    fail_not_implemented("torch.histogram(): elements on the meta device have no values, give a range");
  if (range) {
    if (range->size() != 2) fail("torch.histogram(): range should have 2 elements, but got ", range->size());
    low = (*range)[0], high = (*range)[1];
  } else if (self.numel() > 0) {
    low = value_of(*ops::min(self)).to_double();
    high = value_of(*ops::max(self)).to_double();
  }
  if (!std::isfinite(low) || !std::isfinite(high)) fail("range of [", low, ", ", high, "] is not finite");
  if (low > high) fail("torch.histogram(): min edge of bin range ", low, " exceeds max edge ", high);
  if (low == high) low -= 0.5, high += 0.5;
  const TensorRef edges = ops::linspace(low, high, bins + 1, self.dtype(), self.device());
  return histogram(self, edges, weight, density);
}

TensorRef index_reduce(Tensor& self, int64_t dim, Tensor& index, Tensor& source, std::string_view reduce,
                       bool include_self) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.dim() > 1) fail_index("index_reduce_(): Index is supposed to be a vector, but got dim: ", index.dim());
  if (index.dtype() != DType::Int64 && index.dtype() != DType::Int32)
    fail("index_reduce_(): Expected dtype int32/int64 for index but got: ", scalar_type_name(index.dtype()));
  if (self.dtype() != source.dtype())
    fail("index_reduce_(): self and source expected to have the same dtype, but got self ", self.dtype(),
         " and source ", source.dtype());
  if (reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
    fail("index_reduce_(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  if (source.size(source.dim() ? d : 0) != index.numel())
    fail("index_reduce_(): Number of indices (", index.numel(), ") should be equal to self.size(dim) (",
         source.size(source.dim() ? d : 0), ")");
  for (int64_t k = 0; k < self.dim(); ++k)
    if (source.dim() != self.dim() || (k != d && self.dims_[k] != source.dims_[k]))
      fail("index_reduce_(): source tensor must have the same slice shapes as self except at dimension ", d, ", got ",
           source.sizes(), " and ", self.sizes());
  Dims shape;
  for (int64_t k = 0; k < source.dim(); ++k) shape.push(k == d ? index.numel() : 1);
  const TensorRef places = ops::reshape(*ops::to_dtype(index, DType::Int64), shape);
  return ops::scatter_reduce_two(self, d, *ops::expand(*places, source.sizes(), false), source, reduce, include_self);
}

}  // namespace vivace::composite
