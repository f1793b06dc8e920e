// Pools over (N, C, ...spatial): largest element or mean of each window, with regular or adaptive windows, and their
// gradients.
#include <cmath>
#include <limits>
#include <vector>

#include "generated/kernels/nn/pool.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/conv_planes.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/pool_channels.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using kernels::Cells;
using kernels::Mean;
using kernels::Span;

namespace {

Dims pooled_sizes(const char* op, const Tensor& input, IntList kernel, IntList stride, IntList padding,
                  IntList dilation, bool ceil_mode) {
  Dims sizes(input.sizes().first(2));
  kernels::check_window(op, {kernel, stride, padding, dilation});
  for (size_t d = 0; d < kernel.size(); ++d) {
    if (kernel[d] <= 0) fail(op, ": kernel size should be greater than zero, but got ", kernel);
    if (stride[d] <= 0) fail(op, ": stride should not be zero, but got ", stride);
    if (dilation[d] <= 0) fail(op, ": dilation should be greater than zero, but got ", dilation);
    if (padding[d] < 0) fail(op, ": pad must be non-negative, but got pad: ", padding[d]);
    if (padding[d] > ((kernel[d] - 1) * dilation[d] + 1) / 2)
      fail(op, ": pad should be at most half of effective kernel size, but got pad=", padding[d],
           ", kernel_size=", kernel[d], " and dilation=", dilation[d]);
    const int64_t n =
        kernels::window_count(input.sizes()[d + 2], kernel[d], stride[d], padding[d], dilation[d], ceil_mode);
    if (n < 1)
      fail(op, ": Given input size: ", input.sizes().subspan(1), ". Calculated output size at dim ", int64_t(d + 2),
           " is ", n, ". Output size is too small");
    sizes.push(n);
  }
  return sizes;
}

Dims adaptive_sizes(const Tensor& input, IntList output) {
  Dims sizes(input.sizes().first(2));
  for (int64_t n : output) {
    if (n < 0) fail("adaptive_pool: elements of output_size must be greater than or equal to 0, but got ", output);
    sizes.push(n);
  }
  return sizes;
}

IntList no_dilation(size_t n) {
  static constexpr int64_t kOnes[] = {1, 1, 1};
  return IntList(kOnes, n);
}

/// Regular windows, a line of output at once: its elements compete with one column of their windows after the other.
template <class T>
void max_by_lines(const Cells& cells, const T* image, T* result, int64_t* index) {
  using W = kernels::Wide<T>;
  const int64_t n = cells.out[2], stride = cells.stride[2];
  for (int64_t line = 0; line < cells.out[0] * cells.out[1]; ++line, result += n, index += n) {
    const Span z = cells.span(0, line / cells.out[1]), y = cells.span(1, line % cells.out[1]);
    std::fill_n(index, n, int64_t(-1));
    for (int64_t a = z.begin; a < z.end; a += z.step)
      for (int64_t b = y.begin; b < y.end; b += y.step)
        for (int64_t c = 0; c < cells.kernel[2]; ++c) {
          const int64_t first_column = c * cells.dilation[2] - cells.padding[2];
          const int64_t first = first_column >= 0 ? 0 : (-first_column + stride - 1) / stride;
          const int64_t room = cells.in[2] - first_column;
          const int64_t last = room <= 0 ? 0 : std::min(n, (room + stride - 1) / stride);
          const int64_t base = (a * cells.in[1] + b) * cells.in[2] + first_column;
          for (int64_t k = first; k < last; ++k) {
            const int64_t at = base + k * stride;
            const W v = kernels::widen<W>(image[at]);
            const bool wins = index[k] < 0 || v > kernels::widen<W>(result[k]) || v != v;
            result[k] = wins ? image[at] : result[k];
            index[k] = wins ? at : index[k];
          }
        }
  }
}

/// Regular windows of `n` images: taps of padded planes compete, whole vectors of windows at once.
template <class T>
void max_by_planes(const Cells& cells, const T* images, int64_t n, T* result, int64_t* index) {
  constexpr int64_t kPositions = 1024, kPlanes = 16 * 1024;
  constexpr T kLeast = -std::numeric_limits<T>::infinity();
  const dense::ConvLoops<T>& loops = dense::conv_loops<T>();
  const auto layout_of = [&](int64_t at_once) {
    return kernels::PlaneLayout(cells.in, cells.padding, cells.kernel, cells.dilation, cells.out, cells.stride, at_once,
                                loops.width);
  };
  const kernels::PlaneLayout layout = layout_of(std::clamp<int64_t>(kPlanes / layout_of(1).channel_step, 1, n));
  std::vector<int64_t> offsets;        // of the taps, in the planes
  std::vector<dense::Lane<T>> places;  // in the image
  for (int64_t i = 0; i < cells.kernel[0]; ++i)
    for (int64_t j = 0; j < cells.kernel[1]; ++j)
      for (int64_t k = 0; k < cells.kernel[2]; ++k) {
        const int64_t z = i * cells.dilation[0], y = j * cells.dilation[1], x = k * cells.dilation[2];
        offsets.push_back(layout.at(z, y, x));
        places.push_back(dense::Lane<T>((z * cells.in[1] + y) * cells.in[2] + x));
      }
  const kernels::Grid grid{
      {cells.out[0], cells.out[1], cells.out[2]}, {cells.out[1] * cells.out[2], cells.out[2], 1}, cells.out_size(), 0};
  const auto planes = layout.planes<T>(1, kLeast);
  alignas(64) T best[kPositions + 64];
  alignas(64) dense::Lane<T> place[kPositions + 64];
  for (int64_t i = 0; i < n; i += layout.images) {
    const int64_t count = std::min(layout.images, n - i), end = grid.end(layout, count);
    layout.fill(planes.get(), images + i * cells.in_size(), count, 1, cells.in_size());
    for (int64_t p = 0; p < end; p += kPositions) {
      const int64_t m = std::min(kPositions, end - p);
      loops.largest(m, planes.get() + p, offsets.data(), places.data(), int64_t(offsets.size()), best, place);
      grid.each_line(layout, p, m, [&](int64_t q, int64_t width, int64_t at, int64_t x, int64_t y, int64_t z) {
        at += i * grid.image_step;
        const int64_t corner =
            ((z * cells.stride[0] - cells.padding[0]) * cells.in[1] + y * cells.stride[1] - cells.padding[1]) *
                cells.in[2] +
            x * cells.stride[2] - cells.padding[2];
        const bool has_least = loops.give(width, best + q, place + q, corner, cells.stride[2], result + at, index + at);
        // Where all is -inf, padding may have won: the first element of the window is the one.
        for (int64_t k = 0; has_least && k < width; ++k)
          if (best[q + k] == kLeast)
            index[at + k] = (cells.span(0, z).begin * cells.in[1] + cells.span(1, y).begin) * cells.in[2] +
                            cells.span(2, x + k).begin;
      });
    }
  }
}

void max_of_cells(Tensor& input, const Cells& cells, Tensor& out, Tensor& indices) {
  if (kernels::max_of_channels(input, cells, out, indices)) return;
  // Half types have loops over vectors as floats, which they are again afterwards without rounding.
  const DType compute = cells.is_adaptive ? out.dtype() : compute_of(out.dtype());
  TensorRef x = kernels::dense_in(&input, compute);
  kernels::RowBuffer values(out, out.dim(), compute), places(indices, out.dim(), DType::Int64);
  const int64_t images = cells.batches * cells.channels, size = cells.in_size(), positions = cells.out_size();
  visit(compute, [&]<class T>() {
    if constexpr (kernels::is_complex_type<T> || std::is_same_v<T, bool>) {
      fail_not_implemented("\"max_pool\" not implemented for '", out.dtype(), "'");
    } else {
      using W = kernels::Wide<T>;
      const T* in = x->data<T>();
      T* result = values.rows().data<T>();
      int64_t* index = places.rows().data<int64_t>();
      parallel_for(0, images, 32768 / std::max<int64_t>(1, positions) + 1, [&](int64_t begin, int64_t end) {
        if constexpr (std::is_floating_point_v<T>)
          if (!cells.is_adaptive)
            return max_by_planes(cells, in + begin * size, end - begin, result + begin * positions,
                                 index + begin * positions);
        for (int64_t i = begin; i < end; ++i) {
          const T* image = in + i * size;
          if (!cells.is_adaptive) {
            max_by_lines(cells, image, result + i * positions, index + i * positions);
            continue;
          }
          cells.each([&](int64_t o, const Span& z, const Span& y, const Span& c) {
            int64_t best = (z.begin * cells.in[1] + y.begin) * cells.in[2] + c.begin;
            W top = kernels::widen<W>(image[best]);
            cells.each_element(z, y, c, [&](int64_t at) {
              const W v = kernels::widen<W>(image[at]);
              if (v > top || v != v) top = v, best = at;
            });
            result[i * positions + o] = image[best];
            index[i * positions + o] = best;
          });
        }
      });
    }
  });
  values.finish();
  places.finish();
}

/// Elements of a line that are worth a call of a loop over vectors.
constexpr int64_t kLongRun = 16;

void mean_of_cells(Tensor& input, const Cells& cells, const Mean& mean, Tensor& out) {
  if (input.dtype() == DType::Int64) {
    TensorRef wide = empty(out.sizes(), DType::Float64), in = to_dtype(input, DType::Float64);
    mean_of_cells(*in, cells, mean, *wide);
    return copy_into(out, *wide);
  }
  if (kernels::mean_of_channels(input, cells, mean, out)) return;
  const DType compute = compute_of(out.dtype());
  TensorRef x = kernels::dense_in(&input, compute);
  kernels::RowBuffer buffer(out, out.dim(), compute);
  const int64_t images = cells.batches * cells.channels, size = cells.in_size(), positions = cells.out_size();
  kernels::visit_compute(compute, "avg_pool", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    const T* in = x->data<T>();
    T* result = buffer.rows().data<T>();
    parallel_for(0, images, 32768 / std::max<int64_t>(1, positions) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        cells.each([&](int64_t o, const Span& z, const Span& y, const Span& c) {
          T sum = 0;
          if (c.end - c.begin >= kLongRun) {
            // Whole lines that follow each other are one run.
            const bool is_whole = c.end - c.begin == cells.in[2];
            const int64_t lines = is_whole ? y.end - y.begin : 1, run = lines * (c.end - c.begin);
            for (int64_t a = z.begin; a < z.end; ++a)
              for (int64_t b = y.begin; b < y.end; b += lines)
                sum += T(loops.sum(in + i * size + (a * cells.in[1] + b) * cells.in[2] + c.begin, run));
          } else {
            cells.each_element(z, y, c, [&](int64_t at) { sum += in[i * size + at]; });
          }
          result[i * positions + o] = sum / T(mean.of(z, y, c));
        });
    });
  });
  buffer.finish();
}

void mean_backward(Tensor& grads, const Cells& cells, const Mean& mean, Tensor& out) {
  if (kernels::mean_of_channels_backward(grads, cells, mean, out)) return;
  const DType compute = compute_of(out.dtype());
  TensorRef g = kernels::dense_in(&grads, compute);
  kernels::RowBuffer buffer(out, out.dim(), compute);
  fill_into(buffer.rows(), Scalar(0));
  const int64_t images = cells.batches * cells.channels, size = cells.in_size(), positions = cells.out_size();
  kernels::visit_compute(compute, "avg_pool", [&]<class T>() {
    const T* from = g->data<T>();
    T* to = buffer.rows().data<T>();
    parallel_for(0, images, 32768 / std::max<int64_t>(1, size) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        cells.each([&](int64_t o, const Span& z, const Span& y, const Span& c) {
          const T share = from[i * positions + o] / T(mean.of(z, y, c));
          cells.each_element(z, y, c, [&](int64_t at) { to[i * size + at] += share; });
        });
    });
  });
  buffer.finish();
}

}  // namespace

namespace meta {

/// Means and adaptive maxima of volumes are contiguous in PyTorch, whatever the input is.
static MemoryFormat format_of_images(const Tensor& input) {
  return input.dim() == 4 ? kernels::format_of(input) : MemoryFormat::Contiguous;
}

std::tuple<TensorRef, TensorRef> max_pool(Tensor& input, IntList kernel_size, IntList stride, IntList padding,
                                          IntList dilation, bool ceil_mode) {
  const Dims sizes = pooled_sizes("max_pool", input, kernel_size, stride, padding, dilation, ceil_mode);
  const MemoryFormat format = kernels::format_of(input);
  return {kernels::empty_images(sizes, input.dtype(), input.device(), format),
          kernels::empty_images(sizes, DType::Int64, input.device(), format)};
}
std::tuple<TensorRef, TensorRef> adaptive_max_pool(Tensor& input, IntList output_size) {
  const Dims sizes = adaptive_sizes(input, output_size);
  const MemoryFormat format = format_of_images(input);
  return {kernels::empty_images(sizes, input.dtype(), input.device(), format),
          kernels::empty_images(sizes, DType::Int64, input.device(), format)};
}
TensorRef max_pool_backward(Tensor& grads, Tensor& indices, IntList input_sizes) {
  return kernels::empty_images(input_sizes, grads.dtype(), grads.device(), kernels::format_of(indices));
}
TensorRef avg_pool(Tensor& input, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode, bool,
                   std::optional<int64_t> divisor) {
  if (input.dtype() != DType::Int64) kernels::check_floating(input.dtype(), "avg_pool");
  if (divisor == 0) fail("avg_pool: divisor must be not zero");
  return kernels::empty_images(
      pooled_sizes("avg_pool", input, kernel_size, stride, padding, no_dilation(kernel_size.size()), ceil_mode),
      input.dtype(), input.device(), format_of_images(input));
}
TensorRef avg_pool_backward(Tensor& grads, IntList input_sizes, IntList, IntList, IntList, bool, bool,
                            std::optional<int64_t>) {
  return kernels::empty_images(input_sizes, grads.dtype(), grads.device(), format_of_images(grads));
}
TensorRef adaptive_avg_pool(Tensor& input, IntList output_size) {
  kernels::check_floating(input.dtype(), "adaptive_avg_pool");
  return kernels::empty_images(adaptive_sizes(input, output_size), input.dtype(), input.device(),
                               format_of_images(input));
}
TensorRef adaptive_avg_pool_backward(Tensor& grads, IntList input_sizes) {
  return kernels::empty_images(input_sizes, grads.dtype(), grads.device(), format_of_images(grads));
}

}  // namespace meta

namespace kernels {

void max_pool(Tensor& input, IntList kernel_size, IntList stride, IntList padding, IntList dilation, bool, Tensor& out,
              Tensor& indices) {
  if (out.numel())
    max_of_cells(input, Cells(input.sizes(), out.sizes(), kernel_size, stride, padding, dilation), out, indices);
}
void adaptive_max_pool(Tensor& input, IntList, Tensor& out, Tensor& indices) {
  if (out.numel()) max_of_cells(input, Cells(input.sizes(), out.sizes()), out, indices);
}

void max_pool_backward(Tensor& grads, Tensor& indices, IntList input_sizes, Tensor& out) {
  if (max_of_channels_backward(grads, indices, out)) return;
  const DType compute = compute_of(out.dtype());
  TensorRef g = dense_in(&grads, compute), at = contiguous(indices);
  RowBuffer buffer(out, out.dim(), compute);
  fill_into(buffer.rows(), Scalar(0));
  const int64_t images = input_sizes[0] * input_sizes[1], size = images ? count(input_sizes) / images : 0,
                positions = images ? grads.numel() / images : 0;
  visit_compute(compute, "max_pool", [&]<class T>() {
    const T* from = g->data<T>();
    const int64_t* index = at->data<int64_t>();
    T* to = buffer.rows().data<T>();
    parallel_for(0, images, 32768 / std::max<int64_t>(1, positions) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t o = i * positions; o < (i + 1) * positions; ++o) to[i * size + index[o]] += from[o];
    });
  });
  buffer.finish();
}

void avg_pool(Tensor& input, IntList kernel_size, IntList stride, IntList padding, bool, bool count_include_pad,
              std::optional<int64_t> divisor, Tensor& out) {
  if (out.numel())
    mean_of_cells(input,
                  Cells(input.sizes(), out.sizes(), kernel_size, stride, padding, no_dilation(kernel_size.size())),
                  {divisor.value_or(0), count_include_pad}, out);
}
void avg_pool_backward(Tensor& grads, IntList input_sizes, IntList kernel_size, IntList stride, IntList padding, bool,
                       bool count_include_pad, std::optional<int64_t> divisor, Tensor& out) {
  mean_backward(grads, Cells(input_sizes, grads.sizes(), kernel_size, stride, padding, no_dilation(kernel_size.size())),
                {divisor.value_or(0), count_include_pad}, out);
}
void adaptive_avg_pool(Tensor& input, IntList, Tensor& out) {
  if (out.numel()) mean_of_cells(input, Cells(input.sizes(), out.sizes()), {}, out);
}
void adaptive_avg_pool_backward(Tensor& grads, IntList input_sizes, Tensor& out) {
  mean_backward(grads, Cells(input_sizes, grads.sizes()), {}, out);
}

}  // namespace kernels
}  // namespace vivace
