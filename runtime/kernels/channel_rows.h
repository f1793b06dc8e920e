// batch_norm where channels are the last dim in memory: matrices of (samples, features), and images in a channels-last
// format. Statistics are sums along columns, and results are made row by row.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/layout.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {

struct ChannelRows {
  TensorRef dense;
  int64_t rows, channels;

  /// Nothing if `t` has another layout.
  static std::optional<ChannelRows> of(Tensor& t, DType dtype) {
    const bool is_matrix = t.dim() == 2 && t.is_contiguous();
    const MemoryFormat format = format_of(t);
    if (!is_matrix && (format == MemoryFormat::Contiguous || !t.is_contiguous(format))) return std::nullopt;
    const int64_t channels = t.sizes()[1];
    TensorRef dense = t.dtype() == dtype ? TensorRef::share(&t) : to_dtype(t, dtype);
    if (!std::ranges::equal(dense->strides(), t.strides())) return std::nullopt;
    return ChannelRows{std::move(dense), t.numel() / channels, channels};
  }
  /// `t` laid out as these are.
  TensorRef aligned(Tensor& t) const {
    if (has_layout_of(t)) return TensorRef::share(&t);
    TensorRef copy = empty_strided(dense->sizes(), dense->strides(), dense->dtype());
    copy_into(*copy, t);
    return copy;
  }
  /// Where a result is written that goes to `out`, which copy_into brings there if it is another tensor.
  TensorRef place_for(Tensor& out) const {
    if (has_layout_of(out)) return TensorRef::share(&out);
    return empty_strided(dense->sizes(), dense->strides(), dense->dtype());
  }

  static constexpr int64_t kBlock = 256;  // channels that one thread works on at a time

  /// Calls f(first channel, channels) on all, on several threads.
  template <class F>
  void each_block(F&& f) const {
    const int64_t share = (channels + get_num_threads() - 1) / get_num_threads();
    const int64_t block = std::clamp<int64_t>((share + 31) / 32 * 32, 32, kBlock),
                  blocks = (channels + block - 1) / block;
    constexpr int64_t kGrain = 32768;
    parallel_for(0, blocks, kGrain / (rows * block) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i * block, std::min(block, channels - i * block));
    });
  }

  /// mean[c] of n channels from `first` on.
  template <class T>
  void means(int64_t first, int64_t n, double* mean) const {
    std::fill_n(mean, n, 0.0);
    dense::loops<T>().column_sums(dense->data<T>() + first, rows, channels, n, mean);
    for (int64_t c = 0; c < n; ++c) mean[c] /= double(rows);
  }
  /// The sums of squared differences from `mean`.
  template <class T>
  void squares(int64_t first, int64_t n, const double* mean, double* sums) const {
    T center[kBlock];
    std::copy_n(mean, n, center);
    std::fill_n(sums, n, 0.0);
    dense::loops<T>().column_squares(dense->data<T>() + first, rows, channels, n, center, sums);
  }

 private:
  bool has_layout_of(const Tensor& t) const {
    return t.dtype() == dense->dtype() && std::ranges::equal(t.strides(), dense->strides()) &&
           std::ranges::equal(t.sizes(), dense->sizes());
  }
};

}  // namespace vivace::kernels
