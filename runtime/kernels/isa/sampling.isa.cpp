// The loops of sampling.h for one instruction set.
#include "runtime/kernels/isa/sampling.h"

#include "runtime/kernels/isa/dots.h"

namespace vivace {
namespace {

using dense::Beyond;
using dense::Sampling;
using dense::SamplingRule;

/// Positions with their derivatives by the grid's coordinate.
template <class T>
struct Places {
  Vec<T> at, slope;
};

template <class T>
VIVACE_INLINE Places<T> clipped(Places<T> x, int64_t size) {
  const Vec<T> last = splat(T(size - 1));
  const auto is_inside = (x.at > 0) & (x.at < last);
  return {where(x.at > 0, where(x.at >= last, last, x.at), Vec<T>{}), where(is_inside, x.slope, Vec<T>{})};
}

/// Mirrored at the centres (align) or outer edges of the first and last element.
template <class T>
VIVACE_INLINE Places<T> reflected(Places<T> x, int64_t size, bool align) {
  const T low = align ? T(0) : T(-0.5), span = align ? T(size - 1) : T(size);
  if (span == 0) return {Vec<T>{}, Vec<T>{}};
  const Vec<T> from_low = x.at - low, rest = fmod(abs(from_low), splat(2 * span));
  const auto is_odd = rest >= span;
  const Vec<T> slope = where(from_low < 0, -x.slope, x.slope);
  return {where(is_odd, 2 * span - rest, rest) + low, where(is_odd, -slope, slope)};
}

template <class T>
VIVACE_INLINE Places<T> padded(Places<T> x, int64_t size, Beyond beyond, bool align) {
  if (beyond == Beyond::Reflection) x = reflected<T>(x, size, align);
  return beyond == Beyond::Zeros ? x : clipped<T>(x, size);
}

/// How many places a point reads along one dim.
template <Sampling kMode>
inline constexpr int kAlong = kMode == Sampling::Bilinear  ? 2
                              : kMode == Sampling::Nearest ? 1
                                                           : 4;

/// What one dim adds to points: places (or -1), weights, and the weights' slopes.
template <class T, int kTaps>
struct Axis {
  Index<T> place[kTaps];
  Vec<T> weight[kTaps], slope[kTaps];
};

template <class T>
VIVACE_INLINE void cubic_weights(Vec<T> t, Axis<T, 4>& axis) {
  constexpr T kA = T(-0.75);
  const auto near = [](Vec<T> x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](Vec<T> x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  const auto near_slope = [](Vec<T> x) { return (3 * (kA + 2) * x - 2 * (kA + 3)) * x; };
  const auto far_slope = [](Vec<T> x) { return (3 * kA * x - 10 * kA) * x + 8 * kA; };
  axis.weight[0] = far(t + 1), axis.weight[1] = near(t), axis.weight[2] = near(1 - t), axis.weight[3] = far(2 - t);
  axis.slope[0] = far_slope(t + 1), axis.slope[1] = near_slope(t);
  axis.slope[2] = -near_slope(1 - t), axis.slope[3] = -far_slope(2 - t);
}

template <Sampling kMode, class T>
VIVACE_INLINE Axis<T, kAlong<kMode>> axis_of(Vec<T> coordinate, int64_t size, const SamplingRule& rule) {
  Axis<T, kAlong<kMode>> result;
  const auto checked = [size](Vec<T> x) { return where((x >= 0) & (x < T(size)), to_integer(x), Index<T>{} - 1); };
  // Of [-1, 1], as a position in the image.
  const T half = rule.align ? T(size - 1) / 2 : T(size) / 2;
  Places<T> x{rule.align ? (coordinate + 1) * half : ((coordinate + 1) * T(size) - 1) * T(0.5), splat(half)};
  if constexpr (kMode == Sampling::Bicubic) {
    const Vec<T> base = floor(x.at);
    cubic_weights<T>(x.at - base, result);
    for (int k = 0; k < 4; ++k) {
      result.place[k] = checked(padded<T>({base + T(k - 1), Vec<T>{}}, size, rule.beyond, rule.align).at);
      result.slope[k] *= x.slope;
    }
    return result;
  }
  x = padded<T>(x, size, rule.beyond, rule.align);
  if constexpr (kMode == Sampling::Nearest) {
    result.place[0] = checked(round(x.at));
    result.weight[0] = splat(T(1));
    result.slope[0] = Vec<T>{};
  }
  if constexpr (kMode == Sampling::Bilinear) {
    const Vec<T> base = floor(x.at), part = x.at - base;
    result.place[0] = checked(base), result.place[1] = checked(base + 1);
    result.weight[0] = 1 - part, result.weight[1] = part;
    result.slope[0] = -x.slope, result.slope[1] = x.slope;
  }
  return result;
}

template <Sampling kMode, class T>
void find_of(const SamplingRule& rule, const T* coordinates, int64_t points, bool wants_slopes, dense::Taps<T>& out) {
  using I = dense::Lane<T>;
  constexpr int kTaps = kAlong<kMode>;
  for (int64_t v = 0; v < points; v += lanes<T>) {
    Vec<T> x, y, z{};
    if (rule.dims == 2)
      load_pairs(coordinates + 2 * v, points - v, x, y);
    else
      for (int l = 0; l < lanes<T>; ++l) {
        const T* at = coordinates + 3 * (v + l);
        if (v + l < points) x[l] = at[0], y[l] = at[1], z[l] = at[2];
      }
    const auto ax = axis_of<kMode, T>(x, rule.sizes[2], rule), ay = axis_of<kMode, T>(y, rule.sizes[1], rule);
    Axis<T, kTaps> az{{}, {splat(T(1))}, {}};
    if (rule.dims == 3) az = axis_of<kMode, T>(z, rule.sizes[0], rule);
    int tap = 0;
    for (int k = 0; k < (rule.dims == 3 ? kTaps : 1); ++k)
#pragma GCC unroll 4
      for (int j = 0; j < kTaps; ++j)
#pragma GCC unroll 4
        for (int i = 0; i < kTaps; ++i, ++tap) {
          const Index<T> place = (az.place[k] * I(rule.sizes[1]) + ay.place[j]) * I(rule.sizes[2]) + ax.place[i];
          const auto is_outside = (az.place[k] | ay.place[j] | ax.place[i]) < 0;
          store(out.place[tap] + v, where(is_outside, Index<T>{} - 1, place));
          // A point that is nowhere has no numbers for weights.
          const auto weigh = [&](T(*to)[dense::kSampledPoints], Vec<T> wz, Vec<T> wy, Vec<T> wx) {
            store(to[tap] + v, where(is_outside, Vec<T>{}, wz * wy * wx));
          };
          weigh(out.weight, az.weight[k], ay.weight[j], ax.weight[i]);
          if (!wants_slopes) continue;
          weigh(out.slope[0], az.weight[k], ay.weight[j], ax.slope[i]);
          weigh(out.slope[1], az.weight[k], ay.slope[j], ax.weight[i]);
          weigh(out.slope[2], az.slope[k], ay.weight[j], ax.weight[i]);
        }
  }
}

template <class T>
void find(const SamplingRule& rule, const T* coordinates, int64_t points, bool wants_slopes, dense::Taps<T>& out) {
  const auto run = rule.mode == Sampling::Bilinear  ? find_of<Sampling::Bilinear, T>
                   : rule.mode == Sampling::Nearest ? find_of<Sampling::Nearest, T>
                                                    : find_of<Sampling::Bicubic, T>;
  run(rule, coordinates, points, wants_slopes, out);
}

template <int kCount, class T>
void read_of(const dense::Taps<T>& taps, int64_t points, const T* images, int64_t image_step, int64_t channels, T* out,
             int64_t out_step) {
  for (int64_t v = 0; v < points; v += lanes<T>) {
    Index<T> place[kCount];
    Vec<T> weight[kCount];
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) place[k] = load(taps.place[k] + v), weight[k] = load(taps.weight[k] + v);
    for (int64_t c = 0; c < channels; ++c) {
      const T* image = images + c * image_step;
      Vec<T> sum{};
#pragma GCC unroll 16
      for (int k = 0; k < kCount; ++k) sum = fma(weight[k], gather(image, place[k]), sum);
      store(out + c * out_step + v, sum, points - v);
    }
  }
}

template <class T>
void read(const dense::Taps<T>& taps, int count, int64_t points, const T* images, int64_t image_step, int64_t channels,
          T* out, int64_t out_step) {
  const auto run = count == 1   ? read_of<1, T>
                   : count == 4 ? read_of<4, T>
                   : count == 8 ? read_of<8, T>
                                : read_of<16, T>;
  run(taps, points, images, image_step, channels, out, out_step);
}

template <class T>
void slopes(const dense::Taps<T>& taps, int count, int64_t points, const T* images, int64_t image_step,
            int64_t channels, const T* grads, int64_t grad_step, T (*out)[dense::kSampledPoints]) {
  for (int64_t v = 0; v < points; v += lanes<T>) {
    Vec<T> sums[3] = {};
    for (int k = 0; k < count; ++k) {
      const Index<T> place = load(taps.place[k] + v);
      Vec<T> sum{};
      for (int64_t c = 0; c < channels; ++c)
        sum = fma(load(grads + c * grad_step + v, points - v), gather(images + c * image_step, place), sum);
      for (int d = 0; d < 3; ++d) sums[d] = fma(load(taps.slope[d][k] + v), sum, sums[d]);
    }
    for (int d = 0; d < 3; ++d) store(out[d] + v, sums[d]);
  }
}

}  // namespace

namespace VIVACE_ISA {
extern const dense::SamplingLoops<float> sampling_float;
extern const dense::SamplingLoops<double> sampling_double;
constexpr dense::SamplingLoops<float> sampling_float = {find<float>, read<float>, slopes<float>};
constexpr dense::SamplingLoops<double> sampling_double = {find<double>, read<double>, slopes<double>};
}  // namespace VIVACE_ISA

}  // namespace vivace
