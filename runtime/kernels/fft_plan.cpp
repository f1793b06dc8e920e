// Stockham's self-sorting transform by radices 4, 2, 3, 5 and small primes; lengths with larger prime factors become a
// convolution of a power of two (Bluestein).
#include "runtime/kernels/fft_plan.h"

#include <cmath>
#include <list>
#include <numbers>

namespace vivace::kernels {
namespace {

constexpr int kLargestRadix = 31;
constexpr size_t kKept = 16;  // plans

template <class T>
Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
/// -i a
template <class T>
Complex<T> turned(Complex<T> a) {
  return {a.im, -a.re};
}

/// One pass: `groups` transforms of `radix` elements that lie `groups * stride` apart, each of `stride` neighbours.
template <class T, class Butterfly>
void pass(const Complex<T>* x, Complex<T>* y, int radix, int64_t groups, int64_t stride, const Complex<T>* roots,
          Butterfly&& butterfly) {
  for (int64_t p = 0; p < groups; ++p) {
    Complex<T> twiddle[kLargestRadix];
    for (int k = 0; k < radix; ++k) twiddle[k] = roots[p * k * stride];
    for (int64_t q = 0; q < stride; ++q)
      butterfly(x + q + stride * p, groups * stride, twiddle, y + q + stride * radix * p, stride);
  }
}

template <class T>
void pass2(const Complex<T>* x, Complex<T>* y, int64_t groups, int64_t stride, const Complex<T>* roots) {
  pass(x, y, 2, groups, stride, roots,
       [](const Complex<T>* from, int64_t step, const Complex<T>* w, Complex<T>* to, int64_t gap) {
         const Complex<T> a = from[0], b = from[step];
         to[0] = a + b;
         to[gap] = (a - b) * w[1];
       });
}

template <class T>
void pass3(const Complex<T>* x, Complex<T>* y, int64_t groups, int64_t stride, const Complex<T>* roots) {
  constexpr T kSin = T(0.866025403784438646763723170752936183L);
  pass(x, y, 3, groups, stride, roots,
       [](const Complex<T>* from, int64_t step, const Complex<T>* w, Complex<T>* to, int64_t gap) {
         const Complex<T> a = from[0], sum = from[step] + from[2 * step], odd = kSin * (from[step] - from[2 * step]);
         const Complex<T> middle = a - T(0.5) * sum;
         to[0] = a + sum;
         to[gap] = (middle + turned(odd)) * w[1];
         to[2 * gap] = (middle - turned(odd)) * w[2];
       });
}

template <class T>
void pass4(const Complex<T>* x, Complex<T>* y, int64_t groups, int64_t stride, const Complex<T>* roots) {
  pass(x, y, 4, groups, stride, roots,
       [](const Complex<T>* from, int64_t step, const Complex<T>* w, Complex<T>* to, int64_t gap) {
         const Complex<T> even = from[0] + from[2 * step], difference = from[0] - from[2 * step];
         const Complex<T> odd = from[step] + from[3 * step], other = turned(from[step] - from[3 * step]);
         to[0] = even + odd;
         to[gap] = (difference + other) * w[1];
         to[2 * gap] = (even - odd) * w[2];
         to[3 * gap] = (difference - other) * w[3];
       });
}

template <class T>
void pass_any(const Complex<T>* x, Complex<T>* y, int radix, int64_t groups, int64_t stride, const Complex<T>* roots) {
  const int64_t step_of_root = groups * stride;  // roots[j * step_of_root] = exp(-2 pi i j / radix)
  pass(x, y, radix, groups, stride, roots,
       [=](const Complex<T>* from, int64_t step, const Complex<T>* w, Complex<T>* to, int64_t gap) {
         for (int k = 0; k < radix; ++k) {
           Complex<T> sum = from[0];
           for (int j = 1; j < radix; ++j) sum = sum + from[j * step] * roots[(int64_t(j) * k) % radix * step_of_root];
           to[k * gap] = sum * w[k];
         }
       });
}

std::vector<int> factors(int64_t n) {
  std::vector<int> radices;
  while (n % 4 == 0) radices.push_back(4), n /= 4;
  for (int p = 2; p <= kLargestRadix; ++p)
    while (n % p == 0) radices.push_back(p), n /= p;
  if (n > 1) radices.clear();
  return radices;
}

}  // namespace

Complex<double> root_of_unity(int64_t k, int64_t n) {
  // Angles are folded into the first eighth, where sine and cosine have all their digits.
  k %= n;
  if (2 * k > n) {
    const Complex<double> mirrored = root_of_unity(n - k, n);
    return {mirrored.re, -mirrored.im};
  }
  if (4 * k > n) {
    const Complex<double> rest = root_of_unity(2 * k == n ? 0 : n - 2 * k, 2 * n);
    return {-rest.re, rest.im};
  }
  const double angle = 2 * std::numbers::pi * double(k) / double(n);
  if (8 * k <= n) return {std::cos(angle), -std::sin(angle)};
  const double rest = std::numbers::pi * double(n - 4 * k) / (2 * double(n));
  return {std::sin(rest), -std::cos(rest)};
}

template <class T>
FftPlan<T>::FftPlan(int64_t length) : n_(length), radices_(factors(length)) {
  const auto rounded = [](Complex<double> z) { return Complex<T>{T(z.re), T(z.im)}; };
  if (n_ == 1 || !radices_.empty()) {
    roots_.resize(size_t(n_));
    for (int64_t k = 0; k < n_; ++k) roots_[size_t(k)] = rounded(root_of_unity(k, n_));
    return;
  }
  int64_t size = 1;
  while (size < 2 * n_ - 1) size *= 2;
  inner_ = std::make_unique<FftPlan<T>>(size);
  chirp_.resize(size_t(n_));
  spectrum_.assign(size_t(size), Complex<T>{});
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < n_; ++k) {
    const Complex<T> z = rounded(root_of_unity(square, 2 * n_));
    square = (square + 2 * k + 1) % (2 * n_);
    chirp_[size_t(k)] = z;
    const Complex<T> conjugate{z.re / T(size), -z.im / T(size)};
    spectrum_[size_t(k)] = conjugate;
    if (k) spectrum_[size_t(size - k)] = conjugate;
  }
  std::vector<Complex<T>> scratch(size_t(inner_->scratch()));
  inner_->run(spectrum_.data(), scratch.data());
}

template <class T>
int64_t FftPlan<T>::scratch() const {
  return inner_ ? inner_->length() + inner_->scratch() : n_;
}

template <class T>
void FftPlan<T>::run(Complex<T>* x, Complex<T>* scratch) const {
  if (inner_) return run_chirp(x, scratch);
  Complex<T>*from = x, *to = scratch;
  int64_t groups = n_, stride = 1;
  for (int radix : radices_) {
    groups /= radix;
    if (radix == 4)
      pass4(from, to, groups, stride, roots_.data());
    else if (radix == 2)
      pass2(from, to, groups, stride, roots_.data());
    else if (radix == 3)
      pass3(from, to, groups, stride, roots_.data());
    else
      pass_any(from, to, radix, groups, stride, roots_.data());
    stride *= radix;
    std::swap(from, to);
  }
  if (from != x) std::copy(from, from + n_, x);
}

template <class T>
void FftPlan<T>::run_chirp(Complex<T>* x, Complex<T>* scratch) const {
  const int64_t size = inner_->length();
  Complex<T>* z = scratch;
  for (int64_t k = 0; k < n_; ++k) z[k] = x[k] * chirp_[size_t(k)];
  std::fill(z + n_, z + size, Complex<T>{});
  inner_->run(z, scratch + size);
  // The way back is a transform of the conjugate.
  for (int64_t k = 0; k < size; ++k) {
    const Complex<T> product = z[k] * spectrum_[size_t(k)];
    z[k] = {product.re, -product.im};
  }
  inner_->run(z, scratch + size);
  for (int64_t k = 0; k < n_; ++k) x[k] = Complex<T>{z[k].re, -z[k].im} * chirp_[size_t(k)];
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length) {
  static std::list<std::shared_ptr<const FftPlan<T>>> plans;  // the latest first
  for (auto it = plans.begin(); it != plans.end(); ++it)
    if ((*it)->length() == length) {
      plans.splice(plans.begin(), plans, it);
      return plans.front();
    }
  plans.push_front(std::make_shared<const FftPlan<T>>(length));
  if (plans.size() > kKept) plans.pop_back();
  return plans.front();
}

template class FftPlan<float>;
template class FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t);

}  // namespace vivace::kernels
