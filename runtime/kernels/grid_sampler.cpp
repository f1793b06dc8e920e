// Images (N, C, H, W) and volumes (N, C, D, H, W) read at points, and the gradients by both. A point is the corner
// weights of its interpolation; channels repeat them. Half types compute in float.
#include <cmath>
#include <vector>

#include "generated/kernels/nn/sampling.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

enum Interpolation { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

constexpr int kMaxTaps = 16;
constexpr int64_t kOutside = -1;

/// A number with its derivative by the grid's coordinate.
template <class T>
struct Place {
  T at, slope;
};

template <class T>
Place<T> clipped(Place<T> x, int64_t size) {
  const T last = T(size - 1);
  if (!(x.at > 0)) return {0, 0};
  return x.at >= last ? Place<T>{last, 0} : x;
}

/// Mirrored at the centres (align) or outer edges of the first and last element.
template <class T>
Place<T> reflected(Place<T> x, int64_t size, bool align) {
  const T low = align ? T(0) : T(-0.5), span = align ? T(size - 1) : T(size);
  if (span == 0) return {0, 0};
  T from_low = x.at - low, slope = x.slope;
  if (from_low < 0) from_low = -from_low, slope = -slope;
  const T rest = std::fmod(from_low, span);
  const bool is_odd = std::fmod(std::floor(from_low / span), T(2)) != 0;
  return is_odd ? Place<T>{span - rest + low, -slope} : Place<T>{rest + low, slope};
}

template <class T>
Place<T> padded(Place<T> x, int64_t size, int64_t padding, bool align) {
  if (padding == kReflection) x = reflected(x, size, align);
  return padding == kZeros ? x : clipped(x, size);
}

/// A coordinate of [-1, 1] as a position in the image.
template <class T>
Place<T> unnormalized(T x, int64_t size, bool align) {
  const T half = align ? T(size - 1) / 2 : T(size) / 2;
  return {align ? (x + 1) * half : ((x + 1) * T(size) - 1) / 2, half};
}

template <class T>
bool in_range(T x) {
  return x >= T(-2147483648.0) && x <= T(2147483520.0);
}

/// What one dim adds to a point: places (or kOutside), weights, and the weights' slopes.
template <class T>
struct Axis {
  int taps;
  int64_t place[4];
  T weight[4], slope[4];
};

template <class T>
void cubic_weights(T t, T (&weight)[4], T (&slope)[4]) {
  constexpr T kA = T(-0.75);
  const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  const auto near_slope = [](T x) { return (3 * (kA + 2) * x - 2 * (kA + 3)) * x; };
  const auto far_slope = [](T x) { return (3 * kA * x - 10 * kA) * x + 8 * kA; };
  weight[0] = far(t + 1), weight[1] = near(t), weight[2] = near(1 - t), weight[3] = far(2 - t);
  slope[0] = far_slope(t + 1), slope[1] = near_slope(t), slope[2] = -near_slope(1 - t), slope[3] = -far_slope(2 - t);
}

template <class T>
Axis<T> axis(T coordinate, int64_t size, int64_t mode, int64_t padding, bool align) {
  Axis<T> result{};
  const auto checked = [size](T x) { return in_range(x) && x >= 0 && x < T(size) ? int64_t(x) : kOutside; };
  Place<T> x = unnormalized(coordinate, size, align);
  if (mode == kBicubic) {
    const T base = std::floor(x.at);
    result.taps = 4;
    cubic_weights(x.at - base, result.weight, result.slope);
    for (int k = 0; k < 4; ++k) {
      result.place[k] = checked(padded(Place<T>{base + T(k - 1), 0}, size, padding, align).at);
      result.slope[k] *= x.slope;
    }
    return result;
  }
  x = padded(x, size, padding, align);
  if (mode == kNearest) {
    result.taps = 1;
    result.place[0] = checked(std::nearbyint(x.at));
    result.weight[0] = 1;
    return result;
  }
  const T base = std::floor(x.at), part = x.at - base;
  result.taps = 2;
  for (int k = 0; k < 2; ++k) result.place[k] = checked(base + T(k));
  result.weight[0] = 1 - part, result.weight[1] = part;
  result.slope[0] = -x.slope, result.slope[1] = x.slope;
  return result;
}

/// The taps of a point: offsets in an image (those outside are left out), weights, and slopes by x, y and z.
template <class T>
struct Point {
  int taps = 0;
  int64_t offset[kMaxTaps];
  T weight[kMaxTaps], slope[kMaxTaps][3];
};

struct Sizes {
  int64_t images, channels, in[3], points;
  int dims;
  int64_t pixels() const { return in[0] * in[1] * in[2]; }
  Sizes(const Tensor& input, const Tensor& grid) : dims(int(input.dim()) - 2) {
    images = input.sizes()[0], channels = input.sizes()[1];
    for (int d = 0; d < 3; ++d) in[d] = d < 3 - dims ? 1 : input.sizes()[size_t(d + dims - 1)];
    points = images ? grid.numel() / (images * dims) : 0;
  }
};

template <class T>
Point<T> point(const T* coordinates, const Sizes& s, int64_t mode, int64_t padding, bool align) {
  Axis<T> axes[3];  // z, y, x
  axes[0] = Axis<T>{1, {0}, {1}, {0}};
  for (int d = 0; d < s.dims; ++d)  // the grid says x first
    axes[2 - d] = axis(coordinates[d], s.in[2 - d], mode, padding, align);
  Point<T> result;
  for (int k = 0; k < axes[0].taps; ++k)
    for (int j = 0; j < axes[1].taps; ++j)
      for (int i = 0; i < axes[2].taps; ++i) {
        const int64_t z = axes[0].place[k], y = axes[1].place[j], x = axes[2].place[i];
        if (z == kOutside || y == kOutside || x == kOutside) continue;
        const int at = result.taps++;
        const T wz = axes[0].weight[k], wy = axes[1].weight[j], wx = axes[2].weight[i];
        result.offset[at] = (z * s.in[1] + y) * s.in[2] + x;
        result.weight[at] = wz * wy * wx;
        result.slope[at][0] = wz * wy * axes[2].slope[i];
        result.slope[at][1] = wz * axes[1].slope[j] * wx;
        result.slope[at][2] = axes[0].slope[k] * wy * wx;
      }
  return result;
}

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
  if (mode == kBicubic && input.dim() == 5) fail("grid_sampler(): bicubic interpolation only supports 4D input");
  if (mode < kBilinear || mode > kBicubic) fail("grid_sampler(): unknown interpolation mode ", mode);
  if (padding < kZeros || padding > kReflection) fail("grid_sampler(): unknown padding mode ", padding);
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
    const Sizes s(input, grid);
    const T* from = images->data<T>();
    const T* coordinates = at->data<T>();
    T* to = result->data<T>();
    parallel_for(0, s.images * s.points, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = i / s.points, place = i % s.points;
        const Point<T> p = point(coordinates + i * s.dims, s, mode, padding, align);
        for (int64_t c = 0; c < s.channels; ++c) {
          const T* plane = from + (image * s.channels + c) * s.pixels();
          T sum = 0;
          for (int k = 0; k < p.taps; ++k) sum += p.weight[k] * plane[p.offset[k]];
          to[(image * s.channels + c) * s.points + place] = sum;
        }
      }
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
    const Sizes s(input, grid);
    const T *above = g->data<T>(), *from = images->data<T>(), *coordinates = at->data<T>();
    T *to = by_input->data<T>(), *to_grid = by_grid->data<T>();
    parallel_for(0, s.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * s.points; i < end * s.points; ++i) {
        const int64_t image = i / s.points, place = i % s.points;
        const Point<T> p = point(coordinates + i * s.dims, s, mode, padding, align);
        T slope[3] = {0, 0, 0};
        for (int64_t c = 0; c < s.channels; ++c) {
          const int64_t plane = (image * s.channels + c) * s.pixels();
          const T one = above[(image * s.channels + c) * s.points + place];
          for (int k = 0; k < p.taps; ++k) {
            const int64_t pixel = plane + p.offset[k];
            to[pixel] += p.weight[k] * one;
            for (int d = 0; d < s.dims; ++d) slope[d] += p.slope[k][d] * from[pixel] * one;
          }
        }
        for (int d = 0; d < s.dims; ++d) to_grid[i * s.dims + d] = slope[d];
      }
    });
    copy_into(input_grad, *by_input);
    copy_into(grid_grad, *by_grid);
  });
}

}  // namespace kernels
}  // namespace vivace
