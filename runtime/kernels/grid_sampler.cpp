// Images (N, C, H, W) and volumes (N, C, D, H, W) read at points, and the gradients by both. A point is the corner
// weights of its interpolation; channels repeat them. Half types compute in float.
#include <algorithm>
#include <limits>

#include "generated/kernels/nn/sampling.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/isa/sampling.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

using dense::kSampledPoints;
using dense::Sampling;
using dense::SamplingRule;
using dense::Taps;

constexpr int64_t kNumModes = 3, kNumPaddings = 3;

struct Sizes {
  int64_t images, channels, points, pixels;
  SamplingRule rule;
  Sizes(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align)
      : rule{Sampling(mode), dense::Beyond(padding), align, int(input.dim()) - 2, {1, 1, 1}} {
    images = input.sizes()[0], channels = input.sizes()[1];
    for (int d = 0; d < rule.dims; ++d) rule.sizes[3 - rule.dims + d] = input.sizes()[size_t(d + 2)];
    pixels = rule.sizes[0] * rule.sizes[1] * rule.sizes[2];
    points = images ? grid.numel() / (images * rule.dims) : 0;
  }
  int64_t blocks() const { return (points + kSampledPoints - 1) / kSampledPoints; }
  /// f(image, first of its points, how many) for the blocks [begin, end) of all images.
  template <class F>
  void each_block(int64_t begin, int64_t end, F&& f) const {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks() * kSampledPoints;
      f(i / blocks(), first, std::min<int64_t>(kSampledPoints, points - first));
    }
  }
};

void check(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding) {
  if (input.dtype() != grid.dtype())
    fail("grid_sampler(): expected input and grid to have same dtype, but input has ", input.dtype(), " and grid has ",
         grid.dtype());
  if (input.dim() != 4 && input.dim() != 5)
    fail("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ",
         input.sizes(), " and grid with sizes ", grid.sizes());
  if (input.dim() != grid.dim())
    fail("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ",
         input.sizes(), " and grid with sizes ", grid.sizes());
  if (input.sizes()[0] != grid.sizes()[0])
    fail("grid_sampler(): expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
         " and grid with sizes ", grid.sizes());
  if (grid.sizes().back() != input.dim() - 2)
    fail("grid_sampler(): expected grid to have size ", input.dim() - 2, " in last dimension, but got grid with sizes ",
         grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d)
    if (input.sizes()[size_t(d)] == 0)
      fail("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes(),
           " with dimension ", d, " being empty");
  if (mode < 0 || mode >= kNumModes) fail("grid_sampler(): unknown interpolation mode ", mode);
  if (Sampling(mode) == Sampling::Bicubic && input.dim() == 5)
    fail("grid_sampler(): bicubic interpolation only supports 4D input");
  if (count(input.sizes().subspan(2)) > std::numeric_limits<int32_t>::max())
    fail("grid_sampler(): images of more than 2^31 - 1 pixels are not supported, got sizes ", input.sizes());
  if (padding < 0 || padding >= kNumPaddings) fail("grid_sampler(): unknown padding mode ", padding);
  kernels::check_floating(input.dtype(), "grid_sampler_2d_cpu");
}

}  // namespace

namespace meta {

TensorRef grid_sampler(Tensor& input, Tensor& grid, int64_t mode, int64_t padding, bool) {
  check(input, grid, mode, padding);
  Dims sizes{input.sizes()[0], input.sizes()[1]};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push(grid.sizes()[size_t(d)]);
  return empty(sizes, input.dtype(), input.device());
}
std::tuple<TensorRef, TensorRef> grid_sampler_backward(Tensor&, Tensor& input, Tensor& grid, int64_t, int64_t, bool) {
  return {empty(input.sizes(), input.dtype(), input.device()), empty(grid.sizes(), grid.dtype(), grid.device())};
}

}  // namespace meta

namespace kernels {

void grid_sampler(Tensor& input, Tensor& grid, int64_t mode, int64_t padding, bool align, Tensor& out) {
  visit_compute(input.dtype(), "grid_sampler_2d_cpu", [&]<class T>() {
    constexpr DType kType = std::is_same_v<T, double> ? DType::Float64 : DType::Float32;
    const TensorRef images = dense_in(&input, kType), at = dense_in(&grid, kType);
    const TensorRef result =
        out.dtype() == kType && out.is_contiguous() ? TensorRef::share(&out) : vivace::empty(out.sizes(), kType);
    const Sizes s(input, grid, mode, padding, align);
    const T *from = images->data<T>(), *coordinates = at->data<T>();
    T* to = result->data<T>();
    const dense::SamplingLoops<T>& loops = dense::sampling_loops<T>();
    parallel_for(0, s.images * s.blocks(), 4, [&](int64_t begin, int64_t end) {
      Taps<T> taps;
      s.each_block(begin, end, [&](int64_t image, int64_t first, int64_t n) {
        loops.find(s.rule, coordinates + (image * s.points + first) * s.rule.dims, n, false, taps);
        loops.read(taps, dense::taps_of(s.rule), n, from + image * s.channels * s.pixels, s.pixels, s.channels,
                   to + image * s.channels * s.points + first, s.points);
      });
    });
    if (result.get() != &out) copy_into(out, *result);
  });
}

void grid_sampler_backward(Tensor& grads, Tensor& input, Tensor& grid, int64_t mode, int64_t padding, bool align,
                           Tensor& input_grad, Tensor& grid_grad) {
  visit_compute(input.dtype(), "grid_sampler_2d_cpu", [&]<class T>() {
    constexpr DType kType = std::is_same_v<T, double> ? DType::Float64 : DType::Float32;
    const TensorRef g = dense_in(&grads, kType), images = dense_in(&input, kType), at = dense_in(&grid, kType);
    const TensorRef by_input = vivace::empty(input.sizes(), kType), by_grid = vivace::empty(grid.sizes(), kType);
    fill_into(*by_input, 0);
    const Sizes s(input, grid, mode, padding, align);
    const T *above = g->data<T>(), *from = images->data<T>(), *coordinates = at->data<T>();
    T *to = by_input->data<T>(), *to_grid = by_grid->data<T>();
    const dense::SamplingLoops<T>& loops = dense::sampling_loops<T>();
    const int count = dense::taps_of(s.rule), dims = s.rule.dims;
    parallel_for(0, s.images, 1, [&](int64_t begin, int64_t end) {
      Taps<T> taps;
      s.each_block(begin * s.blocks(), end * s.blocks(), [&](int64_t image, int64_t first, int64_t n) {
        const int64_t start = image * s.points + first;
        loops.find(s.rule, coordinates + start * dims, n, true, taps);
        const int64_t first_channel = image * s.channels;
        const T* g_block = above + first_channel * s.points + first;
        T slopes[3][kSampledPoints];
        loops.slopes(taps, count, n, from + first_channel * s.pixels, s.pixels, s.channels, g_block, s.points, slopes);
        for (int64_t c = 0; c < s.channels; ++c) {
          T* plane = to + (first_channel + c) * s.pixels;
          for (int k = 0; k < count; ++k)
            for (int64_t i = 0; i < n; ++i)
              if (taps.place[k][i] >= 0) plane[taps.place[k][i]] += taps.weight[k][i] * g_block[c * s.points + i];
        }
        for (int64_t i = 0; i < n; ++i)
          for (int d = 0; d < dims; ++d) to_grid[(start + i) * dims + d] = slopes[d][i];
      });
    });
    copy_into(input_grad, *by_input);
    copy_into(grid_grad, *by_grid);
  });
}

}  // namespace kernels
}  // namespace vivace
