// Binary search, distinct elements, counts and histograms.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "generated/kernels/index/repeat.h"
#include "generated/kernels/index/sort.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/sort.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

TensorRef meta::searchsorted_Tensor(Tensor& sorted_sequence, Tensor& self, bool out_int32, bool right,
                                    std::optional<std::string_view> side, Tensor* sorter) {
  if (side && *side != "left" && *side != "right")
    fail("torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  if (side && *side == "left" && right)
    fail("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  if (sorted_sequence.dtype() != self.dtype())
    fail(
        "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, but got boundary tensor "
        "dtype ",
        sorted_sequence.dtype(), " and input value tensor dtype ", self.dtype());
  if (self.dim() == 0 && sorted_sequence.dim() != 1)
    fail(
        "torch.searchsorted(): input value can be a scalar only when boundary tensor dimension is 1, but we got "
        "boundary tensor dim(",
        sorted_sequence.dim(), ")");
  if (sorted_sequence.dim() != 1) {
    bool fits = sorted_sequence.dim() == self.dim();
    for (int64_t d = 0; fits && d + 1 < self.dim(); ++d) fits = sorted_sequence.dims_[d] == self.dims_[d];
    if (!fits)
      fail(
          "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
          "tensor and "
          "input value tensor must match, but we got boundaries tensor ",
          sorted_sequence.sizes(), " and input value tensor ", self.sizes());
  }
  if (sorter) {
    if (sorter->dtype() != DType::Int64)
      fail("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ", sorter->dtype());
    bool same = sorter->dim() == sorted_sequence.dim();
    for (int64_t d = 0; same && d < sorter->dim(); ++d) same = sorter->dims_[d] == sorted_sequence.dims_[d];
    if (!same)
      fail("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ",
           sorted_sequence.sizes(), " and got sorter tensor ", sorter->sizes());
  }
  return empty(self.sizes(), out_int32 ? DType::Int32 : DType::Int64, self.device());
}

namespace kernels {
namespace {

/// NaN is the largest.
template <class T>
bool less(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace

void searchsorted_Tensor(Tensor& sorted_sequence, Tensor& self, bool, bool right, std::optional<std::string_view> side,
                         Tensor* sorter, Tensor& out) {
  if (out.numel() == 0) return;
  const bool after = right || (side && *side == "right");
  const TensorRef edges = contiguous(sorted_sequence), values = contiguous(self);
  const TensorRef order = sorter ? contiguous(*sorter) : TensorRef();
  const int64_t n = sorted_sequence.size(-1), per_line = sorted_sequence.dim() == 1 ? self.numel() : self.size(-1);
  if (order) {
    const int64_t* p = order->data<int64_t>();
    for (int64_t i = 0; i < order->numel(); ++i)
      if (p[i] < 0 || p[i] >= n) fail("torch.searchsorted(): sorter index out of range");
  }
  visit(self.dtype(), [&]<class T>() {
    if constexpr (!kIsComplex<T>) {
      const T* x = values->data<T>();
      parallel_for(0, self.numel(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t start = sorted_sequence.dim() == 1 ? 0 : i / per_line * n;
          const T* line = edges->data<T>() + start;
          const int64_t* places = order ? order->data<int64_t>() + start : nullptr;
          const auto value = load(x[i]);
          int64_t low = 0, high = n;
          while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const auto edge = load(line[places ? places[middle] : middle]);
            if (after ? !less(value, edge) : less(edge, value))
              low = middle + 1;
            else
              high = middle;
          }
          if (out.dtype() == DType::Int32)
            out.data<int32_t>()[i] = int32_t(low);
          else
            out.data<int64_t>()[i] = low;
        }
      });
    }
  });
}

namespace {

/// Rows of equal width, compared element by element.
template <class T>
struct Rows {
  const T* data;
  int64_t width;
  int compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      const auto x = load(data[a * width + i]), y = load(data[b * width + i]);
      if (less(x, y)) return -1;
      if (less(y, x)) return 1;
    }
    return 0;
  }
  /// NaN differs from NaN.
  bool equal(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i)
      if (!(load(data[a * width + i]) == load(data[b * width + i]))) return false;
    return true;
  }
};

using Three = std::tuple<TensorRef, TensorRef, TensorRef>;

Three distinct(Tensor& self, std::optional<int64_t> dim, bool in_order) {
  if (is_complex(self.dtype())) fail_not_implemented("\"unique\" not implemented for '", self.dtype(), "'");
  const int64_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  // Rows to compare: slices along dim, or the single elements.
  TensorRef rows;
  Dims rest;
  int64_t n = self.numel(), width = 1;
  if (dim && self.dim() > 0) {
    Dims sizes{self.dims_[d]}, strides{self.dims_[self.ndim_ + d]};
    for (int k = 0; k < self.ndim_; ++k) {
      if (k == d) continue;
      sizes.push(self.dims_[k]);
      strides.push(self.dims_[self.ndim_ + k]);
      rest.push(self.dims_[k]);
    }
    const TensorRef moved = vivace::alias(self);
    set_layout(*moved, sizes, strides, self.storage_offset());
    rows = contiguous(*moved);
    n = self.dims_[d];
    width = count(rest);
    if (width == 0 && n > 0)
      fail("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  } else {
    rows = contiguous(self);
  }
  std::vector<int64_t> order(static_cast<size_t>(n)), chosen, counts;
  std::iota(order.begin(), order.end(), 0);
  const TensorRef inverse = vivace::empty(dim && self.dim() > 0 ? IntList(&n, 1) : self.sizes(), DType::Int64);
  TensorRef values;
  visit(self.dtype(), [&]<class T>() {
    if constexpr (!kIsComplex<T>) {
      const Rows<T> table{rows->data<T>(), width};
      if (!in_order && width == 1 && n > 1) {
        const TensorRef sorted = vivace::empty({n}, self.dtype());
        sort_lines(self.dtype(), rows->raw(), sorted->raw(), order.data(), 1, n, false);
      } else if (!in_order) {
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return table.compare(a, b) < 0; });
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t row = order[size_t(i)];
        if (i == 0 || !table.equal(order[size_t(i - 1)], row)) {
          chosen.push_back(row);
          counts.push_back(0);
        }
        ++counts.back();
        inverse->data<int64_t>()[row] = int64_t(chosen.size()) - 1;
      }
      const int64_t m = int64_t(chosen.size());
      Dims sizes{m};
      for (int64_t s : rest) sizes.push(s);
      values = vivace::empty(sizes, self.dtype());
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(values->data<T>() + i * width, table.data + chosen[size_t(i)] * width, size_t(width) * sizeof(T));
    }
  });
  if (d > 0) {  // slices go back to their dim
    Dims sizes, strides;
    const IntList now = values->strides();
    for (int k = 0, next = 1; k < self.ndim_; ++k) {
      sizes.push(k == d ? values->dims_[0] : self.dims_[k]);
      strides.push(k == d ? now[0] : now[size_t(next++)]);
    }
    const TensorRef moved = vivace::alias(*values);
    set_layout(*moved, sizes, strides, 0);
    values = contiguous(*moved);
  }
  TensorRef times = vivace::empty({int64_t(counts.size())}, DType::Int64);
  std::copy(counts.begin(), counts.end(), times->data<int64_t>());
  return {std::move(values), inverse, std::move(times)};
}

}  // namespace

Three _unique(Tensor& self, bool, bool, bool, std::optional<int64_t> dim) { return distinct(self, dim, false); }
Three _unique_consecutive(Tensor& self, bool, bool, std::optional<int64_t> dim) { return distinct(self, dim, true); }

TensorRef bincount(Tensor& self, Tensor* weights, int64_t minlength) {
  if (minlength < 0) fail("minlength should be >= 0");
  if (self.dim() != 1 || is_differentiable(self.dtype()))
    fail("bincount only supports 1-d non-negative integral inputs.");
  if (weights && (weights->dim() != 1 || weights->numel() != self.numel()))
    fail("weights should be 1-d and have the same length as input");
  const TensorRef index = contiguous(*vivace::to_dtype(self, DType::Int64));
  const int64_t* p = index->data<int64_t>();
  int64_t length = minlength;
  for (int64_t i = 0; i < self.numel(); ++i) {
    if (p[i] < 0) fail("bincount only supports 1-d non-negative integral inputs.");
    length = std::max(length, p[i] + 1);
  }
  if (!weights) {
    TensorRef out = vivace::empty({length}, DType::Int64);
    fill_into(*out, 0);
    for (int64_t i = 0; i < self.numel(); ++i) ++out->data<int64_t>()[p[i]];
    return out;
  }
  TensorRef out = vivace::empty({length}, weights->dtype() == DType::Float32 ? DType::Float32 : DType::Float64);
  fill_into(*out, 0);
  const TensorRef w = contiguous(*vivace::to_dtype(*weights, out->dtype()));
  visit(out->dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t i = 0; i < self.numel(); ++i) out->data<T>()[p[i]] += w->data<T>()[i];
  });
  return out;
}

void histc(Tensor& self, int64_t bins, const Scalar& min, const Scalar& max, Tensor& out) {
  const TensorRef values = contiguous(*vivace::to_dtype(self, DType::Float64)),
                  counts = vivace::empty({bins}, DType::Float64);
  const double* x = values->data<double>();
  const int64_t n = values->numel();
  double low = min.to_double(), high = max.to_double();
  if (low == high && n > 0) {
    low = *std::min_element(x, x + n);
    high = *std::max_element(x, x + n);
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) fail("torch.histc: range of [", low, ", ", high, "] is not finite");
  if (low > high) fail("torch.histc: max must be larger than min");
  fill_into(*counts, 0);
  for (int64_t i = 0; i < n; ++i) {
    if (!(x[i] >= low && x[i] <= high)) continue;
    const int64_t bin = int64_t((x[i] - low) / (high - low) * double(bins));
    counts->data<double>()[std::min(bin, bins - 1)] += 1;
  }
  copy_into(out, *counts);
}

}  // namespace kernels

TensorRef meta::histc(Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
  if (bins <= 0) fail("bins must be > 0");
  if (is_complex(self.dtype()) || is_bool(self.dtype()))
    fail_not_implemented("\"histogram_cpu\" not implemented for '", self.dtype(), "'");
  return empty({bins}, self.dtype(), self.device());
}

}  // namespace vivace
