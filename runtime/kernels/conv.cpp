// Convolution: sums over shifted planes of padded images (conv_planes.h), in register tiles (isa/conv.h). The map is
// bilinear in input and weight; its two adjoints are operators too, so that derivatives of all orders are made of the
// three. The adjoint by the input is the same sum once for each remainder by the stride.
#include <cmath>
#include <memory>
#include <numeric>

#include "generated/kernels/nn/conv.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/conv_channels.h"
#include "runtime/kernels/conv_depthwise.h"
#include "runtime/kernels/conv_sums.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/rows.h"

namespace vivace {

using namespace kernels;

namespace {

/// Positions over which a sum of the weight's gradient stays in registers, and channels of the input that stay in the
/// second cache meanwhile.
constexpr int64_t kDotPositions = 2048, kDotChannels = 32;

template <class T>
Matrix dense_matrix(const T* data, int64_t rows, int64_t cols) {
  return {const_cast<char*>(reinterpret_cast<const char*>(data)), rows, cols, cols, 1};
}

/// Rows of the matrix that one group's part of all images is.
template <class T>
Matrix group_matrix(const T* data, const Geometry& g, int64_t group, int64_t cols) {
  return {const_cast<char*>(reinterpret_cast<const char*>(data + group * cols)), g.batches, cols, g.groups * cols, 1};
}

/// f(index, group) for each group of each image; f multiplies matrices.
template <class F>
void over_products(const Geometry& g, F&& f) {
  blas::table();  // loading needs the GIL, which a region may let go of
  over_images(g, 1, [&](int64_t first, int64_t n) {
    for (int64_t i = first * g.groups; i < (first + n) * g.groups; ++i) f(i, i % g.groups);
  });
}

/// Calls f<T>() with the type of computation.
template <class F>
void visit_conv(DType t, F&& f) {
  visit(compute_of(t), [&]<class T>() {
    if constexpr (!kernels::is_half_type<T> && !std::is_same_v<T, bool>)
      f.template operator()<T>();
    else
      fail_not_implemented("\"convolution\" not implemented for '", t, "'");
  });
}

/// The windows of one group of an image, one after the other: [position][channel][tap].
template <class T>
void unfold_windows(const Geometry& g, const T* x, T* to) {
  for (int64_t z = 0; z < g.out[0]; ++z)
    for (int64_t y = 0; y < g.out[1]; ++y)
      for (int64_t v = 0; v < g.out[2]; ++v)
        for (int64_t c = 0; c < g.in_channels; ++c)
          for (int64_t i = 0; i < g.kernel[0]; ++i)
            for (int64_t j = 0; j < g.kernel[1]; ++j) {
              const int64_t a = z * g.stride[0] + i * g.dilation[0] - g.padding[0],
                            b = y * g.stride[1] + j * g.dilation[1] - g.padding[1];
              const bool inside = a >= 0 && a < g.in[0] && b >= 0 && b < g.in[1];
              const T* line = inside ? x + ((c * g.in[0] + a) * g.in[1] + b) * g.in[2] : nullptr;
              for (int64_t k = 0; k < g.kernel[2]; ++k) {
                const int64_t e = v * g.stride[2] + k * g.dilation[2] - g.padding[2];
                *to++ = inside && e >= 0 && e < g.in[2] ? line[e] : T{};
              }
            }
}

// ---- the three maps on contiguous arrays

template <class T>
void forward(const Geometry& g, DType dtype, const T* x, const T* w, const T* bias, T* y) {
  const int64_t depth = g.in_channels * g.taps, image = g.channels * g.in_size(), size = g.out_size();
  if (std::is_floating_point_v<T> && g.is_pointwise())
    return over_products(g, [&](int64_t i, int64_t group) {
      T* to = y + i * g.out_channels * size;
      for (int64_t o = 0; bias && o < g.out_channels; ++o)
        std::fill_n(to + o * size, size, bias[group * g.out_channels + o]);
      kernels::gemm(dtype, dense_matrix(w + group * g.out_channels * depth, g.out_channels, depth),
                    dense_matrix(x + i * g.in_channels * size, depth, size), dense_matrix(to, g.out_channels, size),
                    Scalar(1), Scalar(bias ? 1 : 0));
    });
  if (std::is_floating_point_v<T> && g.is_whole()) {
    for (int64_t group = 0; group < g.groups; ++group) {
      const Matrix to = group_matrix(y, g, group, g.out_channels);
      const Matrix weights = dense_matrix(w + group * g.out_channels * depth, g.out_channels, depth);
      if (bias)
        gemm_bias(dtype, group_matrix(x, g, group, depth), weights.transposed(), to,
                  reinterpret_cast<const char*>(bias + group * g.out_channels));
      else
        kernels::gemm(dtype, group_matrix(x, g, group, depth), weights.transposed(), to);
    }
    return;
  }
  const int64_t rows = g.groups * g.out_channels, width = loops_for<T>().width;
  const Grid grid{{g.out[0], g.out[1], g.out[2]}, {g.out[1] * g.out[2], g.out[2], 1}, rows * size, size};
  if (g.is_depthwise()) {
    const PlaneLayout layout = g.input_planes(1, width);
    const PlaneSums whole{g.input_offsets(layout), {}, grid, 0, 0};
    return sum_channels<T>(g, layout, {&whole, 1}, x, g.in_size(), w, bias, y, size);
  }
  const auto packed = scratch<T>(rows * depth);
  std::vector<int64_t> taps(static_cast<size_t>(g.taps));
  std::iota(taps.begin(), taps.end(), 0);
  for (int64_t group = 0; group < g.groups; ++group)
    pack(g.out_channels, g.in_channels, taps, w + group * g.out_channels * depth, depth, g.taps,
         packed.get() + group * g.out_channels * depth);
  const PlaneLayout layout = g.input_planes(g.images_at_once(g.channels, g.in_size()), width);
  const std::vector<int64_t> offsets = g.input_offsets(layout);
  over_images(g, layout.images, [&](int64_t first, int64_t n) {
    const auto planes = layout.planes<T>(g.channels);
    for (int64_t i = first; i < first + n; i += layout.images) {
      const int64_t images = std::min(layout.images, first + n - i);
      layout.fill(planes.get(), x + i * image, images, g.channels, image);
      for (int64_t group = 0; group < g.groups; ++group)
        sum_planes(layout, planes.get() + group * g.in_channels * layout.channel_step, g.in_channels, offsets,
                   packed.get() + group * g.out_channels * depth, g.out_channels,
                   bias ? bias + group * g.out_channels : nullptr, images, grid,
                   y + i * grid.image_step + group * g.out_channels * size);
    }
  });
}

/// Along one dim, the inputs r, r + stride, ... and the elements of the output that each of them meets.
struct Remainder {
  int64_t inputs;
  std::vector<int64_t> taps, shifts;  // input r + m * stride meets output m + shift by this tap
};

std::vector<Remainder> remainders(const Geometry& g, int d) {
  std::vector<Remainder> all(size_t(g.stride[d]));
  for (int64_t r = 0; r < g.stride[d]; ++r) {
    all[size_t(r)].inputs = (g.in[d] - r + g.stride[d] - 1) / g.stride[d];
    for (int64_t t = 0; t < g.kernel[d]; ++t) {
      const int64_t distance = r + g.padding[d] - t * g.dilation[d];
      if (distance % g.stride[d] != 0) continue;
      all[size_t(r)].taps.push_back(t);
      all[size_t(r)].shifts.push_back(distance / g.stride[d]);
    }
  }
  return all;
}

template <class T>
void input_grad(const Geometry& g, DType dtype, const T* dy, const T* w, T* dx) {
  const int64_t depth = g.in_channels * g.taps, size = g.out_size();
  if (std::is_floating_point_v<T> && g.is_pointwise())
    return over_products(g, [&](int64_t i, int64_t group) {
      kernels::gemm(dtype, dense_matrix(w + group * g.out_channels * depth, g.out_channels, depth).transposed(),
                    dense_matrix(dy + i * g.out_channels * size, g.out_channels, size),
                    dense_matrix(dx + i * depth * size, depth, size));
    });
  if (std::is_floating_point_v<T> && g.is_whole()) {
    for (int64_t group = 0; group < g.groups; ++group)
      kernels::gemm(dtype, group_matrix(dy, g, group, g.out_channels),
                    dense_matrix(w + group * g.out_channels * depth, g.out_channels, depth),
                    group_matrix(dx, g, group, depth));
    return;
  }
  const std::vector<Remainder> of[3] = {remainders(g, 0), remainders(g, 1), remainders(g, 2)};
  int64_t before[3], spread[3], windows[3];
  for (int d = 0; d < 3; ++d) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (const Remainder& r : of[d])
      for (const int64_t shift : r.shifts) least = std::min(least, shift), most = std::max(most, shift);
    before[d] = -least;
    spread[d] = most - least + 1;
    windows[d] = of[d][0].inputs;
  }
  const int64_t channels = g.groups * g.out_channels, ones[3] = {1, 1, 1}, image = channels * size;
  const PlaneLayout layout(g.out, before, spread, ones, windows, ones,
                           g.is_depthwise() ? 1 : g.images_at_once(channels, size), loops_for<T>().width);
  std::vector<PlaneSums> parts;  // one for each remainder in each dim
  int64_t n_packed = 0;
  for (int64_t a = 0; a < g.stride[0]; ++a)
    for (int64_t b = 0; b < g.stride[1]; ++b)
      for (int64_t c = 0; c < g.stride[2]; ++c) {
        const Remainder &rz = of[0][size_t(a)], &ry = of[1][size_t(b)], &rx = of[2][size_t(c)];
        if (rz.inputs <= 0 || ry.inputs <= 0 || rx.inputs <= 0) continue;
        PlaneSums part;
        for (size_t i = 0; i < rz.taps.size(); ++i)
          for (size_t j = 0; j < ry.taps.size(); ++j)
            for (size_t k = 0; k < rx.taps.size(); ++k) {
              part.taps.push_back((rz.taps[i] * g.kernel[1] + ry.taps[j]) * g.kernel[2] + rx.taps[k]);
              part.offsets.push_back(
                  layout.at(rz.shifts[i] + before[0], ry.shifts[j] + before[1], rx.shifts[k] + before[2]));
            }
        const int64_t line = g.in[2], plane = g.in[1] * line;
        part.grid = {{rz.inputs, ry.inputs, rx.inputs},
                     {g.stride[0] * plane, g.stride[1] * line, g.stride[2]},
                     g.channels * g.in_size(),
                     g.in_size()};
        part.start = a * plane + b * line + c;
        part.packed = n_packed;
        n_packed += channels * g.in_channels * int64_t(part.taps.size());
        parts.push_back(std::move(part));
      }
  const auto packed = scratch<T>(n_packed);
  const auto weights = [&](const PlaneSums& part, int64_t group) {
    return packed.get() + part.packed + group * g.out_channels * g.in_channels * int64_t(part.taps.size());
  };
  for (const PlaneSums& part : parts)
    for (int64_t group = 0; group < g.groups; ++group)
      pack(g.in_channels, g.out_channels, part.taps, w + group * g.out_channels * depth, g.taps, depth,
           weights(part, group));
  if (g.is_depthwise()) return sum_channels<T>(g, layout, parts, dy, size, packed.get(), nullptr, dx, g.in_size());
  over_images(g, layout.images, [&](int64_t first, int64_t n) {
    const auto planes = layout.planes<T>(channels);
    for (int64_t i = first; i < first + n; i += layout.images) {
      const int64_t images = std::min(layout.images, first + n - i);
      layout.fill(planes.get(), dy + i * image, images, channels, image);
      for (int64_t group = 0; group < g.groups; ++group)
        for (const PlaneSums& part : parts)
          sum_planes(layout, planes.get() + group * g.out_channels * layout.channel_step, g.out_channels, part.offsets,
                     weights(part, group), g.in_channels, static_cast<const T*>(nullptr), images, part.grid,
                     dx + i * part.grid.image_step + group * g.in_channels * g.in_size() + part.start);
    }
  });
}

/// False only if there is none.
template <class T>
bool may_hold_nan(const T* p, int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(dense::loops<T>().sum(p, n));
  else
    return std::any_of(p, p + n, is_nan<T>);
}

/// Output positions of the batch up to which the weight's gradient is a product with the unfolded windows: sums over so
/// few positions would be spent on adding up lanes.
constexpr int64_t kFewPositions = 64;

template <class T>
void few_positions_grad(const Geometry& g, DType dtype, const T* dy, const T* x, T* dw) {
  const int64_t depth = g.in_channels * g.taps, size = g.out_size(), positions = g.batches * size;
  const auto windows = scratch<T>(positions * depth), grads = scratch<T>(positions * g.out_channels);
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t n = 0; n < g.batches; ++n) {
      unfold_windows(g, x + (n * g.channels + group * g.in_channels) * g.in_size(), windows.get() + n * size * depth);
      for (int64_t o = 0; o < g.out_channels; ++o)
        for (int64_t p = 0; p < size; ++p)
          grads[o * positions + n * size + p] = dy[((n * g.groups + group) * g.out_channels + o) * size + p];
    }
    kernels::gemm(dtype, dense_matrix(grads.get(), g.out_channels, positions),
                  dense_matrix(windows.get(), positions, depth),
                  dense_matrix(dw + group * g.out_channels * depth, g.out_channels, depth));
  }
}

/// Between the lines of the gradient, zeros are multiplied by what stands in the planes there. Where that made NaN of
/// an infinite input, `by_lines` does the sums again without them.
template <class T>
void weight_grad(const Geometry& g, DType dtype, const T* dy, const T* x, T* dw, bool by_lines = false) {
  const int64_t depth = g.in_channels * g.taps, size = g.out_size(), rows = g.groups * g.out_channels;
  if (std::is_floating_point_v<T> && g.is_whole()) {
    for (int64_t group = 0; group < g.groups; ++group)
      kernels::gemm(dtype, group_matrix(dy, g, group, g.out_channels).transposed(), group_matrix(x, g, group, depth),
                    dense_matrix(dw + group * g.out_channels * depth, g.out_channels, depth));
    return;
  }
  std::fill_n(dw, rows * depth, T{});
  if (std::is_floating_point_v<T> && g.is_pointwise()) {
    for (int64_t i = 0; i < g.batches * g.groups; ++i)
      kernels::gemm(dtype, dense_matrix(dy + i * g.out_channels * size, g.out_channels, size),
                    dense_matrix(x + i * depth * size, depth, size).transposed(),
                    dense_matrix(dw + i % g.groups * g.out_channels * depth, g.out_channels, depth), Scalar(1),
                    Scalar(1));
    return;
  }
  if (std::is_floating_point_v<T> && g.batches * size <= kFewPositions) return few_positions_grad(g, dtype, dy, x, dw);
  if (g.is_depthwise()) {
    channel_dots<T>(g, dy, x, dw, by_lines);
    if (!by_lines && may_hold_nan(dw, rows * depth)) weight_grad(g, dtype, dy, x, dw, true);
    return;
  }
  const ConvLoops<T>& loops = loops_for<T>();
  const int64_t ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0}, image = g.channels * g.in_size();
  const PlaneLayout layout = g.input_planes(g.images_at_once(std::max(g.channels, rows), g.in_size()), loops.width);
  const PlaneLayout grads(g.out, zeros, ones, ones, layout.size, ones, layout.images, loops.width);
  std::vector<int64_t> offsets;
  const std::vector<int64_t> taps = g.input_offsets(layout);
  for (int64_t c = 0; c < g.in_channels; ++c)
    for (const int64_t offset : taps) offsets.push_back(c * layout.channel_step + offset);
  const auto planes = layout.planes<T>(g.channels);
  const auto grad_planes = grads.planes<T>(rows);
  const int64_t blocks = (g.out_channels + loops.dot_rows - 1) / loops.dot_rows;
  const Grid grid{{g.out[0], g.out[1], g.out[2]}, {}, 0, 0};
  for (int64_t i = 0; i < g.batches; i += layout.images) {
    const int64_t images = std::min(layout.images, g.batches - i), n = grid.end(layout, images);
    layout.fill(planes.get(), x + i * image, images, g.channels, image);
    grads.fill(grad_planes.get(), dy + i * rows * size, images, rows, rows * size);
    const int64_t grain = std::max<int64_t>(1, kThreadWork / std::max<int64_t>(1, n * loops.dot_rows * depth));
    const auto dots = [&](int64_t group, int64_t block, int64_t p, int64_t count, int64_t column) {
      const int64_t last = std::min(g.out_channels, (block + 1) * loops.dot_rows);
      for (int64_t o = block * loops.dot_rows; o < last;) {
        const int k = block_rows(last - o, loops.dot_rows);
        const int64_t row = group * g.out_channels + o;
        loops.dots(k, count, grad_planes.get() + row * grads.channel_step + p, grads.channel_step,
                   planes.get() + group * g.in_channels * layout.channel_step + p, offsets.data() + column,
                   std::min(depth - column, kDotChannels * g.taps), dw + row * depth + column, depth);
        o += k;
      }
    };
    parallel_for(0, g.groups * blocks, grain, [&](int64_t begin, int64_t end) {
      const auto sums = [&](int64_t p, int64_t count) {
        for (int64_t column = 0; column < depth; column += kDotChannels * g.taps)
          for (int64_t block = begin; block < end; ++block) dots(block / blocks, block % blocks, p, count, column);
      };
      for (int64_t p = 0; p < n; p += kDotPositions) {
        const int64_t count = std::min(kDotPositions, n - p);
        if (by_lines)
          grid.each_line(layout, p, count, [&](int64_t q, int64_t width, auto...) { sums(p + q, width); });
        else
          sums(p, count);
      }
    });
  }
  if (!by_lines && may_hold_nan(dw, rows * depth)) weight_grad(g, dtype, dy, x, dw, true);
}

Dims conv_sizes(const Tensor& input, const Tensor& weight, IntList stride, IntList padding, IntList dilation) {
  Dims sizes{input.sizes()[0], weight.sizes()[0]};
  for (int64_t d = 2; d < input.dim(); ++d)
    sizes.push(kernels::window_count(input.sizes()[d], weight.sizes()[d], stride[d - 2], padding[d - 2],
                                     dilation[d - 2], false));
  return sizes;
}

/// Channels last if one of the two is.
MemoryFormat either_format(const Tensor& a, const Tensor& b) {
  const MemoryFormat format = kernels::format_of(a);
  return format == MemoryFormat::Contiguous ? kernels::format_of(b) : format;
}

}  // namespace

namespace meta {

TensorRef conv(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
               int64_t groups) {
  const IntList x = input.sizes(), w = weight.sizes();
  if (groups <= 0) fail("conv: non-positive groups is not supported");
  kernels::check_window("conv", {stride, padding, dilation});
  for (size_t d = 0; d < stride.size(); ++d) {
    if (stride[d] <= 0) fail("conv: non-positive stride is not supported");
    if (padding[d] < 0) fail("conv: negative padding is not supported");
    if (dilation[d] <= 0) fail("conv: dilation should be greater than zero");
  }
  if (input.dtype() != weight.dtype())
    fail("conv: Input type (", input.dtype(), ") and weight type (", weight.dtype(), ") should be the same");
  if (bias && bias->dtype() != input.dtype())
    fail("conv: Input type (", input.dtype(), ") and bias type (", bias->dtype(), ") should be the same");
  if (w[0] < groups || w[0] % groups)
    fail("conv: Given groups=", groups, ", expected weight to be divisible by ", groups,
         " at dimension 0, but got weight of size ", w, " instead");
  if (x[1] != w[1] * groups)
    fail("conv: Given groups=", groups, ", weight of size ", w, ", expected input", x, " to have ", w[1] * groups,
         " channels, but got ", x[1], " channels instead");
  if (bias && (bias->dim() != 1 || bias->sizes()[0] != w[0]))
    fail("conv: Given weight of size ", w, ", expected bias to be 1-dimensional with ", w[0],
         " elements, but got bias of size ", bias->sizes(), " instead");
  for (size_t d = 2; d < x.size(); ++d)
    if (x[d] + 2 * padding[d - 2] < dilation[d - 2] * (w[d] - 1) + 1)
      fail("conv: Calculated padded input size per channel: ", x[d] + 2 * padding[d - 2], " at dim ", int64_t(d),
           ". Kernel size: ", dilation[d - 2] * (w[d] - 1) + 1,
           ". Kernel size can't be greater than actual input size");
  return kernels::empty_images(conv_sizes(input, weight, stride, padding, dilation), input.dtype(), input.device(),
                               either_format(input, weight));
}

TensorRef conv_input_grad(Tensor& grads, Tensor& weight, IntList input_sizes, IntList, IntList, IntList, int64_t) {
  return kernels::empty_images(input_sizes, grads.dtype(), grads.device(), either_format(grads, weight));
}
TensorRef conv_weight_grad(Tensor& grads, Tensor&, IntList weight_sizes, IntList, IntList, IntList, int64_t) {
  return empty(weight_sizes, grads.dtype(), grads.device());
}

}  // namespace meta

namespace kernels {

void conv(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
          int64_t groups, Tensor& out) {
  if (out.numel() == 0) return;
  const Geometry g(input.sizes(), weight.sizes(), out.sizes(), stride, padding, dilation, groups);
  if (depthwise_of_channels(g, input, weight, bias, out)) return;
  const DType compute = compute_of(input.dtype());
  TensorRef x = dense_in(&input, compute), w = dense_in(&weight, compute), b = dense_in(bias, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_conv(input.dtype(), [&]<class T>() {
    forward<T>(g, compute, x->data<T>(), w->data<T>(), data_or_null<T>(b), buffer.rows().data<T>());
  });
  buffer.finish();
}

void conv_input_grad(Tensor& grads, Tensor& weight, IntList input_sizes, IntList stride, IntList padding,
                     IntList dilation, int64_t groups, Tensor& out) {
  if (out.numel() == 0) return;
  if (grads.numel() == 0) return fill_into(out, Scalar(0));
  const Geometry g(input_sizes, weight.sizes(), grads.sizes(), stride, padding, dilation, groups);
  const DType compute = compute_of(out.dtype());
  TensorRef dy = dense_in(&grads, compute), w = dense_in(&weight, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_conv(out.dtype(),
             [&]<class T>() { input_grad<T>(g, compute, dy->data<T>(), w->data<T>(), buffer.rows().data<T>()); });
  buffer.finish();
}

void conv_weight_grad(Tensor& grads, Tensor& input, IntList weight_sizes, IntList stride, IntList padding,
                      IntList dilation, int64_t groups, Tensor& out) {
  if (out.numel() == 0) return;
  if (grads.numel() == 0 || input.numel() == 0) return fill_into(out, Scalar(0));
  const Geometry g(input.sizes(), weight_sizes, grads.sizes(), stride, padding, dilation, groups);
  const DType compute = compute_of(out.dtype());
  TensorRef dy = dense_in(&grads, compute), x = dense_in(&input, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_conv(out.dtype(),
             [&]<class T>() { weight_grad<T>(g, compute, dy->data<T>(), x->data<T>(), buffer.rows().data<T>()); });
  buffer.finish();
}

}  // namespace kernels
}  // namespace vivace
