// The exponential of matrices: Taylor's polynomial of A / 2^s, evaluated with few products (Paterson and Stockmeyer),
// then squared s times.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/kernels/linalg/exponential.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/lapack.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using namespace lapack;

namespace {

/// A polynomial's degree, the powers of A that its evaluation keeps, and the 1-norms up to which its backward error is
/// below the unit roundoff of float and double: where sum |h_k| norm^(k-1), for exp(-x) T(x) = exp(sum h_k x^k), is.
struct Polynomial {
  int degree, powers;
  double float_limit, double_limit;
};
constexpr Polynomial kPolynomials[] = {
    {1, 1, 1.192e-7, 2.22e-16}, {2, 2, 5.979e-4, 2.581e-8}, {4, 2, 0.05117, 3.397e-4}, {6, 3, 0.2495, 9.066e-3},
    {9, 3, 0.7795, 0.08958},    {12, 4, 1.462, 0.2996},     {16, 4, 2.478, 0.7803}};

template <class T>
class Exponential {
  using R = Real<T>;
  int64_t n_;
  std::vector<T> power_[5];  // power_[k] = (A / 2^s)^k
  std::vector<T> sum_, next_;

  kernels::Matrix matrix(std::vector<T>& v) const { return {reinterpret_cast<char*>(v.data()), n_, n_, n_, 1}; }
  void multiply(std::vector<T>& a, std::vector<T>& b, std::vector<T>& c) const {
    kernels::gemm(dtype_, matrix(a), matrix(b), matrix(c));
  }
  static T times(T x, R factor) {
    if constexpr (kComplex<T>)
      return {x.re * factor, x.im * factor};
    else
      return x * factor;
  }
  R norm(const T* a) const {
    R largest = 0;
    for (int64_t col = 0; col < n_; ++col) {
      R sum = 0;
      for (int64_t row = 0; row < n_; ++row) {
        if constexpr (kComplex<T>)
          sum += std::hypot(a[row * n_ + col].re, a[row * n_ + col].im);
        else
          sum += std::abs(a[row * n_ + col]);
      }
      if (!(sum <= largest)) largest = sum;  // NaN stays
      if (sum != sum) return sum;
    }
    return largest;
  }
  /// sum_ += c_first I + c_(first+1) A + ... for the powers that are kept.
  void add_block(int first, int count) {
    R factor = 1;
    for (int k = 2; k <= first; ++k) factor /= R(k);
    for (int k = 0; k < count; ++k, factor /= R(first + k)) {
      if (k == 0)
        for (int64_t i = 0; i < n_; ++i)
          sum_[size_t(i * n_ + i)] = kernels::add(sum_[size_t(i * n_ + i)], unit(factor));
      else
        for (size_t i = 0; i < sum_.size(); ++i) sum_[i] = kernels::add(sum_[i], times(power_[k][i], factor));
    }
  }
  static T unit(R x) {
    if constexpr (kComplex<T>)
      return {x, 0};
    else
      return x;
  }

 public:
  DType dtype_;
  Exponential(int64_t n, DType dtype) : n_(n), sum_(size_t(n * n)), next_(size_t(n * n)), dtype_(dtype) {}

  void run(const T* a, T* out) {
    const R size = norm(a);
    if (!std::isfinite(size)) {
      std::fill_n(out, n_ * n_, unit(R(NAN)));
      return;
    }
    constexpr bool kSingle = std::is_same_v<R, float>;
    const Polynomial* chosen = std::begin(kPolynomials);
    const auto limit = [](const Polynomial& p) { return kSingle ? p.float_limit : p.double_limit; };
    while (chosen + 1 != std::end(kPolynomials) && double(size) > limit(*chosen)) ++chosen;
    const int squarings = std::max(0, int(std::ceil(std::log2(double(size) / limit(*chosen)))));
    power_[1].assign(a, a + n_ * n_);
    for (T& x : power_[1]) x = times(x, std::ldexp(R(1), -squarings));
    for (int k = 2; k <= chosen->powers; ++k) {
      power_[k].resize(size_t(n_ * n_));
      multiply(power_[1], power_[k - 1], power_[k]);
    }
    evaluate(*chosen);
    for (int i = 0; i < squarings; ++i) {
      multiply(sum_, sum_, next_);
      std::swap(sum_, next_);
    }
    std::copy(sum_.begin(), sum_.end(), out);
  }

 private:
  /// Horner's rule in the highest power that is kept.
  void evaluate(const Polynomial& p) {
    R top = 1;
    for (int k = 2; k <= p.degree; ++k) top /= R(k);
    std::vector<T>& highest = power_[p.powers];
    std::transform(highest.begin(), highest.end(), sum_.begin(), [&](T x) { return times(x, top); });
    for (int first = p.degree - p.powers;; first -= p.powers) {
      add_block(first, p.powers);
      if (first == 0) return;
      multiply(sum_, highest, next_);
      std::swap(sum_, next_);
    }
  }
};

}  // namespace

namespace meta {

TensorRef linalg_matrix_exp(Tensor& self) { return empty(self.sizes(), self.dtype(), self.device()); }

}  // namespace meta

namespace kernels {

void linalg_matrix_exp(Tensor& self, Tensor& out) {
  if (out.numel() == 0) return;
  const DType compute = is_half(self.dtype()) ? DType::Float32 : self.dtype();
  const TensorRef a = contiguous(*to_dtype(self, compute)), result = empty(out.sizes(), compute);
  const int64_t n = rows(self);
  blas::table();  // loading needs the GIL, which a region may let go of
  visit_matrix(compute, [&]<class T>() {
    parallel_for(0, batches(self), std::max<int64_t>(1, 20000 / (n * n * n)), [&](int64_t begin, int64_t end) {
      Exponential<T> exponential(n, compute);
      for (int64_t i = begin; i < end; ++i)
        exponential.run(a->template data<T>() + i * n * n, result->template data<T>() + i * n * n);
    });
  });
  copy_into(out, *result);
}

}  // namespace kernels
}  // namespace vivace
