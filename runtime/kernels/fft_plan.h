// Discrete Fourier transforms of one contiguous line. A plan knows the length's factors and roots of unity; it holds no
// scratch memory, so threads share it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/dtype.h"

namespace vivace::kernels {

template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t length);

  int64_t length() const { return n_; }
  /// How many elements of scratch memory `run` wants.
  int64_t scratch() const;
  /// x[k] = sum of x[j] exp(-2 pi i j k / n), unscaled; in place.
  void run(Complex<T>* x, Complex<T>* scratch) const;

 private:
  void run_chirp(Complex<T>* x, Complex<T>* scratch) const;

  int64_t n_;
  std::vector<int> radices_;          // their product is n; empty where n has a large prime factor
  std::vector<Complex<T>> roots_;     // exp(-2 pi i k / n)
  std::vector<Complex<T>> chirp_;     // Bluestein's: exp(-pi i k^2 / n)
  std::vector<Complex<T>> spectrum_;  // and the transform of its conjugate, wrapped around and scaled
  std::unique_ptr<FftPlan<T>> inner_;
};

/// exp(-2 pi i k / n) to the last digit.
Complex<double> root_of_unity(int64_t k, int64_t n);

/// The plan for a length; the latest ones are kept. Under the GIL only.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length);

}  // namespace vivace::kernels
