// See pool_channels.h.
#include "runtime/kernels/pool_channels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/isa/pool.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {
namespace {

constexpr int64_t kGrain = 32768;  // elements of windows

/// Calls f(batch, index of the output pixel in its image, its spans, the pixels of its window) for the lines of outputs
/// from `begin` to `end`.
template <class F>
void each_window(const Cells& cells, int64_t begin, int64_t end, F&& f) {
  std::vector<int64_t> places;
  const int64_t lines = cells.out[0] * cells.out[1];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t line = i % lines;
    const Span z = cells.span(0, line / cells.out[1]), y = cells.span(1, line % cells.out[1]);
    for (int64_t k = 0; k < cells.out[2]; ++k) {
      const Span x = cells.span(2, k);
      places.clear();
      cells.each_element(z, y, x, [&](int64_t at) { places.push_back(at); });
      f(i / lines, line * cells.out[2] + k, z, y, x, places);
    }
  }
}

/// The same for all outputs, on several threads.
template <class F>
void each_window(const Cells& cells, F&& f) {
  const int64_t work = cells.out[2] * cells.channels * cells.kernel_size();
  parallel_for(0, cells.batches * cells.out[0] * cells.out[1], kGrain / std::max<int64_t>(1, work) + 1,
               [&](int64_t begin, int64_t end) { each_window(cells, begin, end, f); });
}

/// Calls f(batch, first channel, channels) for blocks of channels, on several threads: windows overlap, so gradients
/// of an image are added by one thread for each channel.
template <class F>
void each_block(int64_t batches, int64_t channels, int64_t pixels, F&& f) {
  constexpr int64_t kBlock = 128;
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  parallel_for(0, batches * blocks, kGrain / std::max<int64_t>(1, pixels * std::min(channels, kBlock)) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t first = i % blocks * kBlock;
                   f(i / blocks, first, std::min(kBlock, channels - first));
                 }
               });
}

}  // namespace

bool max_of_channels(Tensor& input, const Cells& cells, Tensor& out, Tensor& indices) {
  const MemoryFormat format = format_of(out);
  if (format == MemoryFormat::Contiguous || !is_floating(out.dtype()) || cells.in_size() > INT32_MAX) return false;
  const DType compute = compute_of(out.dtype());
  const TensorRef x = dense_images(input, compute, format), values = place_for(out, compute, format),
                  places = place_for(indices, DType::Int64, format);
  visit_compute(compute, "max_pool", [&]<class T>() {
    const auto& loops = dense::pool_loops<T>();
    const int64_t n = cells.channels;
    each_window(cells, [&, from = x->data<T>(), to = values->data<T>(), index = places->data<int64_t>()](
                           int64_t batch, int64_t pixel, const Span& z, const Span& y, const Span& c,
                           const std::vector<int64_t>& window) {
      const int64_t at = (batch * cells.out_size() + pixel) * n;
      if (window.empty()) {  // dilated over the whole input
        std::fill_n(to + at, n, -std::numeric_limits<T>::infinity());
        std::fill_n(index + at, n, (z.begin * cells.in[1] + y.begin) * cells.in[2] + c.begin);
        return;
      }
      loops.largest(from + batch * cells.in_size() * n, window.data(), int64_t(window.size()), n, to + at, index + at);
    });
  });
  if (values.get() != &out) copy_into(out, *values);
  if (places.get() != &indices) copy_into(indices, *places);
  return true;
}

bool max_of_channels_backward(Tensor& grads, Tensor& indices, Tensor& out) {
  const MemoryFormat format = format_of(out);
  if (format == MemoryFormat::Contiguous || !is_floating(out.dtype())) return false;
  const DType compute = compute_of(out.dtype());
  const TensorRef g = dense_images(grads, compute, format), places = dense_images(indices, DType::Int64, format),
                  sums = place_for(out, compute, format);
  fill_into(*sums, Scalar(0));
  const int64_t batches = out.sizes()[0], channels = out.sizes()[1], size = out.numel() / batches,
                positions = grads.numel() / (batches * channels);
  visit_compute(compute, "max_pool", [&]<class T>() {
    each_block(batches, channels, positions,
               [&, from = g->data<T>(), to = sums->data<T>(), index = places->data<int64_t>()](
                   int64_t batch, int64_t first, int64_t n) {
                 T* image = to + batch * size + first;
                 for (int64_t o = 0; o < positions; ++o) {
                   const int64_t at = (batch * positions + o) * channels + first;
                   for (int64_t c = 0; c < n; ++c) image[index[at + c] * channels + c] += from[at + c];
                 }
               });
  });
  if (sums.get() != &out) copy_into(out, *sums);
  return true;
}

bool mean_of_channels(Tensor& input, const Cells& cells, const Mean& mean, Tensor& out) {
  const MemoryFormat format = format_of(out);
  if (format == MemoryFormat::Contiguous || !is_floating(out.dtype())) return false;
  const DType compute = compute_of(out.dtype());
  const TensorRef x = dense_images(input, compute, format), means = place_for(out, compute, format);
  visit_compute(compute, "avg_pool", [&]<class T>() {
    const auto& loops = dense::pool_loops<T>();
    const int64_t n = cells.channels;
    each_window(cells, [&, from = x->data<T>(), to = means->data<T>()](int64_t batch, int64_t pixel, const Span& z,
                                                                       const Span& y, const Span& c,
                                                                       const std::vector<int64_t>& window) {
      loops.mean(from + batch * cells.in_size() * n, window.data(), int64_t(window.size()), n, T(mean.of(z, y, c)),
                 to + (batch * cells.out_size() + pixel) * n);
    });
  });
  if (means.get() != &out) copy_into(out, *means);
  return true;
}

bool mean_of_channels_backward(Tensor& grads, const Cells& cells, const Mean& mean, Tensor& out) {
  const MemoryFormat format = format_of(out);
  if (format == MemoryFormat::Contiguous || !is_floating(out.dtype())) return false;
  const DType compute = compute_of(out.dtype());
  const TensorRef g = dense_images(grads, compute, format), sums = place_for(out, compute, format);
  fill_into(*sums, Scalar(0));
  visit_compute(compute, "avg_pool", [&]<class T>() {
    const auto& loops = dense::pool_loops<T>();
    const int64_t channels = cells.channels, lines = cells.out[0] * cells.out[1];
    each_block(cells.batches, channels, cells.out_size() * cells.kernel_size(),
               [&, from = g->data<T>(), to = sums->data<T>()](int64_t batch, int64_t first, int64_t n) {
                 T* image = to + batch * cells.in_size() * channels + first;
                 each_window(cells, batch * lines, (batch + 1) * lines,
                             [&](int64_t, int64_t pixel, const Span& z, const Span& y, const Span& x,
                                 const std::vector<int64_t>& window) {
                               loops.spread(from + (batch * cells.out_size() + pixel) * channels + first,
                                            T(mean.of(z, y, x)), window.data(), int64_t(window.size()), channels, n,
                                            image);
                             });
               });
  });
  if (sums.get() != &out) copy_into(out, *sums);
  return true;
}

}  // namespace vivace::kernels
