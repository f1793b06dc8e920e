// The loops of grid_sampler, compiled once per instruction set: lanes are points.
#pragma once
#include <cstdint>

#include "runtime/kernels/isa/conv.h"

namespace vivace::dense {

enum class Sampling : uint8_t { Bilinear, Nearest, Bicubic };
enum class Beyond : uint8_t { Zeros, Border, Reflection };

/// How points read images of `dims` (2 or 3) dims; sizes are (z, y, x), 1 where there is no z.
struct SamplingRule {
  Sampling mode;
  Beyond beyond;
  bool align;
  int dims;
  int64_t sizes[3];
};

/// How many taps a point has.
inline int taps_of(const SamplingRule& rule) {
  const int along = rule.mode == Sampling::Bilinear ? 2 : rule.mode == Sampling::Nearest ? 1 : 4;
  return rule.dims == 3 ? along * along * along : along * along;
}

inline constexpr int kMaxTaps = 16, kSampledPoints = 64;

/// The taps of a block of points: where they read (-1: outside, which reads 0), their weights, and the weights' slopes
/// by x, y and z.
template <class T>
struct Taps {
  Lane<T> place[kMaxTaps][kSampledPoints];
  T weight[kMaxTaps][kSampledPoints];
  T slope[3][kMaxTaps][kSampledPoints];
};

template <class T>
struct SamplingLoops {
  /// The taps of up to kSampledPoints points; their slopes only if asked for.
  void (*find)(const SamplingRule& rule, const T* coordinates, int64_t points, bool wants_slopes, Taps<T>& out);
  /// Reads them in `channels` images; results of a channel are contiguous.
  void (*read)(const Taps<T>& taps, int count, int64_t points, const T* images, int64_t image_step, int64_t channels,
               T* out, int64_t out_step);
  /// The derivatives by x, y and z of what `read` gives, times the gradients by it, summed over channels.
  void (*slopes)(const Taps<T>& taps, int count, int64_t points, const T* images, int64_t image_step, int64_t channels,
                 const T* grads, int64_t grad_step, T (*out)[kSampledPoints]);
};

template <class T>
const SamplingLoops<T>& sampling_loops();

}  // namespace vivace::dense
