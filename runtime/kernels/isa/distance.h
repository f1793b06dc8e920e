// The inner loops of distances by p-norms, compiled once per instruction set for float and double.
#pragma once
#include <cstdint>

namespace vivace::dense {

/// How differences add up; only Power and Halves read p. Halves: a power whose double is a whole number up to
/// kMostHalves, which takes a few products.
enum class Norm : uint8_t { Count, Sum, Square, Largest, Power, Halves };
inline constexpr int kMostHalves = 16;

template <class T>
struct DistanceLoops {
  /// out[j] = the norm of x[k] - columns[k * step + j] over k < m, for n columns j.
  void (*row)(Norm norm, T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, T* out);
  /// grad[k] = the sum over n columns j of scale[j] * the derivative of `norm`'s sum by x[k], for k < m. y are the
  /// norms, which only Largest reads.
  void (*slope)(Norm norm, T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, const T* scale,
                const T* y, T* grad);
};

template <class T>
const DistanceLoops<T>& distance_loops();

}  // namespace vivace::dense
