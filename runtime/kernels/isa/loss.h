// The loops of losses that compare two tensors elementwise, compiled once per instruction set for float and double.
#pragma once
#include <cstdint>

namespace vivace::dense {

enum class ElementLoss : uint8_t { Mse, L1, SmoothL1, Huber };
inline constexpr int kNumElementLosses = 4;

template <class T>
struct LossLoops {
  /// Of n pairs; `parameter` is beta or delta.
  double (*sum[kNumElementLosses])(const T* x, const T* y, int64_t n, T parameter);
  void (*values[kNumElementLosses])(const T* x, const T* y, T* out, int64_t n, T parameter);
  /// out = g * d value / dx, with one g for each pair, or one for all if g_step is 0.
  void (*slopes[kNumElementLosses])(const T* x, const T* y, const T* g, int64_t g_step, T* out, int64_t n, T parameter);
};

template <class T>
const LossLoops<T>& loss_loops();

}  // namespace vivace::dense
