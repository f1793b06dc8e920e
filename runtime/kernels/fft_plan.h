// Discrete Fourier transforms of complex lines. A plan knows the length's factors and roots of unity; it holds no
// scratch memory, so threads share it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/dtype.h"
#include "runtime/kernels/isa/fft.h"

namespace vivace::kernels {

/// What a plan is made for: lanes that have a line each, or share one.
enum class FftLanes : uint8_t { Lines, Parts };

template <class T>
class FftPlan {
 public:
  /// Lanes share lines only where the length divides well.
  FftPlan(int64_t length, FftLanes lanes);

  int64_t length() const { return length_; }
  /// How many lines `run` takes at a time.
  int64_t block() const { return lanes_ == FftLanes::Lines ? loops_.lanes : 1; }
  bool has_columns() const { return !inner_ && lanes_ == FftLanes::Lines; }
  /// How much scratch memory (of T, aligned to 64 bytes) `run` and `run_columns` want.
  int64_t scratch() const;
  /// to[k] = scale * sum of from[j] exp(-+ 2 pi i j k / n) for up to block() contiguous lines that lie `step`s of T
  /// apart; may be in place.
  void run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines, bool is_inverse, T scale,
           T* scratch) const;
  /// For lines side by side whose elements lie `step` complex numbers apart.
  void run_columns(const T* from, T* to, int64_t step, int64_t lines, bool is_inverse, T scale, T* scratch) const;

 private:
  /// A transform's passes with the tables that they point to.
  struct Passes {
    std::vector<dense::FftPass<T>> passes;
    std::vector<std::vector<T>> tables;
    int64_t length = 0;
    void plan(int64_t n);
    dense::FftPasses<T> get() const { return {length, int(passes.size()), passes.data()}; }
  };

  void plan_parts(int64_t parts);
  void plan_chirp();
  void run_chirp(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines, bool is_inverse, T scale,
                 T* scratch) const;

  const dense::FftLoops<T>& loops_;
  int64_t length_;
  FftLanes lanes_;
  Passes along_, across_;
  std::vector<T> twiddles_;  // between along and across
  // Bluestein's, for lengths with a large prime factor: exp(-pi i k^2 / n), and the transform of its conjugate.
  std::vector<T> chirp_, spectrum_;
  std::unique_ptr<FftPlan<T>> inner_;
};

/// The plan for a length; the latest ones are kept. Under the GIL only.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length, FftLanes lanes);
/// What untangle() and tangle() want: exp(-pi i k / half) for k below half. Kept likewise.
template <class T>
std::shared_ptr<const std::vector<T>> real_roots(int64_t half);

}  // namespace vivace::kernels
