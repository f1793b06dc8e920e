// Orthogonal polynomials of degree n (cut to a whole number; 0 below 0) by their recurrences, and by trigonometry where
// that is exact and short. Beyond kLargest recurrences are not run: the value is NaN.
#include <cmath>
#include <limits>

#include "runtime/simd/scalar_math.h"

namespace vivace::scalar {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = 1e7;

/// p(k + 1) = next(k, p(k), p(k - 1)) from p(0) = 1 and p(1).
template <class F>
double recur(double n, double first, F&& next) {
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (n == 0) return 1;
  if (n > kLargest) return kNaN;
  double before = 1, value = first;
  for (double k = 1; k < n && !std::isnan(value); k += 1) {
    const double after = next(k, value, before);
    before = value;
    value = after;
  }
  return value;
}

/// A polynomial of Chebyshev's kind: they share a recurrence and differ in p(1).
double chebyshev(double x, double n, double first) {
  return recur(n, first, [x](double, double value, double before) { return 2 * x * value - before; });
}
bool is_odd(double n) { return std::fmod(n, 2) != 0; }
/// Within (-1, 1), where x is a cosine, and worth a detour.
bool is_cosine(double x, double n) { return n > 8 && std::fabs(x) < 1; }

}  // namespace

double chebyshev_t(double x, double degree) {
  const double n = std::trunc(degree);
  if (n >= 0 && std::fabs(x) == 1) return x > 0 || !is_odd(n) ? 1 : -1;
  return is_cosine(x, n) ? std::cos(n * std::acos(x)) : chebyshev(x, n, x);
}
double chebyshev_u(double x, double degree) {
  const double n = std::trunc(degree);
  if (n >= 0 && std::fabs(x) == 1) return x > 0 || !is_odd(n) ? n + 1 : -(n + 1);
  if (!is_cosine(x, n)) return chebyshev(x, n, 2 * x);
  const double angle = std::acos(x);
  return std::sin((n + 1) * angle) / std::sin(angle);
}
double chebyshev_v(double x, double degree) {
  const double n = std::trunc(degree);
  if (n >= 0 && std::fabs(x) == 1) return x > 0 ? 1 : is_odd(n) ? -(2 * n + 1) : 2 * n + 1;
  if (!is_cosine(x, n)) return chebyshev(x, n, 2 * x - 1);
  const double angle = std::acos(x);
  return std::cos((n + 0.5) * angle) / std::cos(angle / 2);
}
double chebyshev_w(double x, double degree) {
  const double n = std::trunc(degree);
  if (n >= 0 && std::fabs(x) == 1) return x > 0 ? 2 * n + 1 : is_odd(n) ? -1 : 1;
  if (!is_cosine(x, n)) return chebyshev(x, n, 2 * x + 1);
  const double angle = std::acos(x);
  return std::sin((n + 0.5) * angle) / std::sin(angle / 2);
}
double hermite_h(double x, double degree) {
  return recur(std::trunc(degree), 2 * x,
               [x](double k, double value, double before) { return 2 * (x * value - k * before); });
}
double hermite_he(double x, double degree) {
  return recur(std::trunc(degree), x, [x](double k, double value, double before) { return x * value - k * before; });
}
double laguerre_l(double x, double degree) {
  return recur(std::trunc(degree), 1 - x,
               [x](double k, double value, double before) { return ((2 * k + 1 - x) * value - k * before) / (k + 1); });
}
double legendre_p(double x, double degree) {
  const double n = std::trunc(degree);
  if (n >= 0 && std::fabs(x) == 1) return x > 0 || !is_odd(n) ? 1 : -1;
  return recur(n, x,
               [x](double k, double value, double before) { return ((2 * k + 1) * x * value - k * before) / (k + 1); });
}

#define VIVACE_IN_DOUBLE(name) \
  float name(float x, float n) { return float(name(double(x), double(n))); }
VIVACE_IN_DOUBLE(chebyshev_t)
VIVACE_IN_DOUBLE(chebyshev_u)
VIVACE_IN_DOUBLE(chebyshev_v)
VIVACE_IN_DOUBLE(chebyshev_w)
VIVACE_IN_DOUBLE(hermite_h)
VIVACE_IN_DOUBLE(hermite_he)
VIVACE_IN_DOUBLE(laguerre_l)
VIVACE_IN_DOUBLE(legendre_p)
#undef VIVACE_IN_DOUBLE

}  // namespace vivace::scalar
