// Binary search, counts and histograms.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/kernels/index/repeat.h"
#include "generated/kernels/index/sort.h"
#include "runtime/core/promote.h"
#include "runtime/core/saturate.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/rows.h"
#include "runtime/kernels/sort.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

TensorRef meta::searchsorted_Tensor(Tensor& sorted_sequence, Tensor& self, bool out_int32, bool right,
                                    std::optional<std::string_view> side, Tensor* sorter) {
  if (side && *side != "left" && *side != "right")
    fail("torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  if (side && *side == "left" && right)
    fail("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  for (const Tensor* t : {&sorted_sequence, &self})
    if (is_complex(t->dtype())) fail_not_implemented("\"searchsorted\" not implemented for '", t->dtype(), "'");
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
void searchsorted_Tensor(Tensor& sorted_sequence, Tensor& self, bool, bool right, std::optional<std::string_view> side,
                         Tensor* sorter, Tensor& out) {
  if (out.numel() == 0) return;
  const bool after = right || (side && *side == "right");
  const DType common = promote_types(sorted_sequence.dtype(), self.dtype());
  const TensorRef edges = contiguous(*vivace::to_dtype(sorted_sequence, common)),
                  values = contiguous(*vivace::to_dtype(self, common));
  const TensorRef order = sorter ? contiguous(*sorter) : TensorRef();
  const int64_t n = sorted_sequence.size(-1), per_line = sorted_sequence.dim() == 1 ? self.numel() : self.size(-1);
  if (order) {
    const int64_t* p = order->data<int64_t>();
    for (int64_t i = 0; i < order->numel(); ++i)
      if (p[i] < 0 || p[i] >= n) fail("torch.searchsorted(): sorter index out of range");
  }
  visit(common, [&]<class T>() {
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
            if (after ? !(edge > value) : !(edge >= value))  // NaN stands behind everything
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

/// counts[k] = how many i below n have place(i) == k < length. Neighbours are counted apart: the same place twice in a
/// row would wait for its own store.
template <class F>
static void count_places(int64_t n, int64_t length, F place, int64_t* counts) {
  std::fill_n(counts, length, 0);
  if (length > n / 4) {
    for (int64_t i = 0; i < n; ++i) ++counts[place(i)];
    return;
  }
  std::vector<int64_t> more(size_t(3 * length));
  int64_t* const tables[4] = {counts, more.data(), more.data() + length, more.data() + 2 * length};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) ++tables[k][place(i + k)];
  for (; i < n; ++i) ++counts[place(i)];
  for (int64_t k = 0; k < length; ++k) counts[k] += tables[1][k] + tables[2][k] + tables[3][k];
}

TensorRef bincount(Tensor& self, Tensor* weights, int64_t minlength) {
  if (minlength < 0) fail("minlength should be >= 0");
  if (self.dim() != 1 || is_differentiable(self.dtype()))
    fail("bincount only supports 1-d non-negative integral inputs.");
  if (weights && (weights->dim() != 1 || weights->numel() != self.numel()))
    fail("weights should be 1-d and have the same length as input");
  const TensorRef index = contiguous(*vivace::to_dtype(self, DType::Int64));
  const int64_t* p = index->data<int64_t>();
  int64_t largest = -1, bits = 0;
  for (int64_t i = 0; i < self.numel(); ++i) {
    bits |= p[i];
    largest = std::max(largest, p[i]);
  }
  if (bits < 0) fail("bincount only supports 1-d non-negative integral inputs.");
  const int64_t length = std::max(minlength, saturating_sum(largest, 1));
  if (!weights) {
    TensorRef out = vivace::empty({length}, DType::Int64);
    count_places(self.numel(), length, [p](int64_t i) { return p[i]; }, out->data<int64_t>());
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
  const DType type = self.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
  const TensorRef values = contiguous(*vivace::to_dtype(self, type));
  const int64_t n = values->numel();
  const TensorRef counts = vivace::empty({bins + 1}, DType::Int64);  // the last: what lies outside
  visit_compute(type, "histc", [&]<class T>() {
    const T* x = values->data<T>();
    double low = min.to_double(), high = max.to_double();
    if (low == high && n > 0) {
      T least = x[0], most = x[0];
      for (int64_t i = 1; i < n; ++i) {
        least = x[i] < least || x[i] != x[i] ? x[i] : least;
        most = x[i] > most || x[i] != x[i] ? x[i] : most;
      }
      low = least;
      high = most;
    }
    if (low == high) {
      low -= 1;
      high += 1;
    }
    if (!std::isfinite(low) || !std::isfinite(high))
      fail("torch.histc: range of [", low, ", ", high, "] is not finite");
    if (low > high) fail("torch.histc: max must be larger than min");
    const auto bin = [=](int64_t i) {
      const double v = x[i];
      if (!(v >= low && v <= high)) return bins;
      return std::min(int64_t((v - low) / (high - low) * double(bins)), bins - 1);
    };
    count_places(n, bins + 1, bin, counts->data<int64_t>());
  });
  copy_into(out, *make_view(*counts, Dims{bins}, Dims{1}, 0));
}

}  // namespace kernels

TensorRef meta::histc(Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
  if (bins <= 0) fail("bins must be > 0");
  if (is_complex(self.dtype()) || is_bool(self.dtype()))
    fail_not_implemented("\"histogram_cpu\" not implemented for '", self.dtype(), "'");
  return empty({bins}, self.dtype(), self.device());
}

}  // namespace vivace
