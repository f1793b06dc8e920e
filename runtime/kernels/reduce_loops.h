// The inner loops of floating-point reductions, one set per instruction set. Totals are double: loops add up blocks of
// a few thousand elements in the elements' own type and the blocks' results in double, so that error does not grow with
// length.
#pragma once
#include <cstdint>

#include "runtime/simd/isa.h"

namespace vivace {

enum class Fold : uint8_t { Sum, Squares, Magnitudes, Product, Max, Min, MaxMagnitude, MinMagnitude, SumOfNumbers };
inline constexpr int kNumFolds = 9;

/// Count, mean and sum of squared differences from the mean of some elements.
struct Moments {
  double count = 0, mean = 0, m2 = 0;

  void merge(const Moments& b) {
    if (b.count == 0) return;
    const double total = count + b.count, delta = b.mean - mean;
    mean += delta * (b.count / total);
    m2 += b.m2 + delta * delta * (count * b.count / total);
    count = total;
  }
};

inline constexpr int64_t kShortRow = 4096;

template <class T>
struct ReduceLoopsOf {
  /// Of p[0..n), n > 0.
  double (*inner[kNumFolds])(const T* p, int64_t n);
  /// totals[r] = what `inner` gives for row r of n elements; 0 < n <= kShortRow. Rows are `step` elements apart.
  void (*short_rows[kNumFolds])(const T* p, int64_t rows, int64_t step, int64_t n, double* totals);
  /// Folds `rows` rows, `step` elements apart, into totals[0..columns).
  void (*outer[kNumFolds])(const T* p, int64_t rows, int64_t step, int64_t columns, double* totals);
  Moments (*inner_moments)(const T* p, int64_t n);
  void (*outer_moments)(const T* p, int64_t rows, int64_t step, int64_t columns, Moments* totals);
  /// Index of the first largest (smallest) element, or of the first NaN if there is one; n > 0.
  int64_t (*argmax)(const T* p, int64_t n);
  int64_t (*argmin)(const T* p, int64_t n);
};

/// Of int64: sums and products that wrap around, and extremes.
struct IntReduceLoops {
  /// `total` and p[0..n) together.
  int64_t (*inner)(const int64_t* p, int64_t n, int64_t total);
  void (*outer)(const int64_t* p, int64_t rows, int64_t step, int64_t columns, int64_t* totals);
};

struct ReduceLoops {
  ReduceLoopsOf<float> f32;
  ReduceLoopsOf<double> f64;
  IntReduceLoops sum, product, max, min;
};

namespace baseline {
extern const ReduceLoops reduce_loops;
}
namespace avx2 {
extern const ReduceLoops reduce_loops;
}
namespace avx512 {
extern const ReduceLoops reduce_loops;
}

}  // namespace vivace
