// Bessel functions, Airy's Ai, and the scaled complementary error function with the inverse of the normal distribution.
// Where a power series loses digits, sums over an even grid stand for integrals: for integrands that are analytic and
// vanish at both ends such sums converge exponentially (errors of 1e-16 with 20 to 40 terms).
#include <cmath>
#include <limits>

#include "runtime/simd/scalar_math.h"

namespace vivace::scalar {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// exp(x) K_order(x) for x > 0.5 or so, by K_v(x) = integral of exp(-x cosh t) cosh(v t) over t > 0.
double ke_integral(double order, double x) {
  const double h = std::fmin(0.2, 0.7 / std::sqrt(x));
  double sum = 0.5;
  for (int k = 1;; ++k) {
    const double t = k * h, s = std::sinh(t / 2), exponent = 2 * x * s * s;  // cosh t - 1 without cancellation
    if (exponent > 45) break;
    sum += std::exp(-exponent) * std::cosh(order * t);
  }
  return sum * h;
}

/// The Maclaurin series of Ai; in long double since for negative x terms of up to exp(2/3 |x|^1.5) cancel.
double airy_near(double x) {
  const long double c1 = 0.355028053887817239260063186004183177L, c2 = 0.258819403792806798405183560189203963L;
  const long double cube = (long double)x * x * x;
  long double f = 1, g = x, sum = c1 - c2 * x;
  for (int k = 1; k < 200; ++k) {
    f *= cube / ((3.0L * k - 1) * (3.0L * k));
    g *= cube / ((3.0L * k) * (3.0L * k + 1));
    const long double term = c1 * f - c2 * g;
    sum += term;
    if (std::fabs(f) + std::fabs(g) < 1e-21L * std::fabs(sum)) break;
  }
  return double(sum);
}

/// Ai(-x) for x >= 9 by its asymptotic series.
double airy_oscillating(double x) {
  const double zeta = 2.0 / 3 * x * std::sqrt(x);
  double even = 1, odd = 0, term = 1;
  for (int k = 1; k < 30; ++k) {
    term *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2.0 * k - 1) * zeta);
    const double part = k / 2 % 2 ? -term : term;
    (k % 2 ? odd : even) += part;
    if (term < 1e-17) break;
  }
  const double phase = zeta - kPi / 4;
  return (std::cos(phase) * even + std::sin(phase) * odd) / (std::sqrt(kPi) * std::sqrt(std::sqrt(x)));
}

/// exp(x^2), whose argument is rounded once only.
double exp_square(double x) {
  const double high = double(float(x)), low = x - high;
  return std::exp(high * high) * std::exp(low * (x + high));
}

/// log of the normal distribution's upper tail at z >= 0, doubled: log(erfc(z / sqrt(2))).
double log_tail(double z) { return std::log(erfcx(z * std::sqrt(0.5))) - z * z / 2; }

}  // namespace

#define VIVACE_IN_DOUBLE(name) \
  float name(float x) { return float(name(double(x))); }

double bessel_j0(double x) { return std::isinf(x) ? 0 : ::j0(x); }
double bessel_j1(double x) { return std::isinf(x) ? 0 : ::j1(x); }
double bessel_y0(double x) { return x < 0 ? kNaN : std::isinf(x) ? 0 : ::y0(x); }
double bessel_y1(double x) { return x < 0 ? kNaN : std::isinf(x) ? 0 : ::y1(x); }

double airy_ai(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x <= -9) return airy_oscillating(-x);
  if (x < 1.5) return airy_near(x);
  const double zeta = 2.0 / 3 * x * std::sqrt(x);
  return std::sqrt(x / 3) / kPi * ke_integral(1.0 / 3, zeta) * std::exp(-zeta);
}

double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < 0) return x < -26.7 ? kInf : 2 * exp_square(x) - erfcx(-x);
  if (x < 2) return std::exp(x * x) * std::erfc(x);
  if (x > 1e8) return 1 / (std::sqrt(kPi) * x);
  // x / pi times the integral of exp(-t^2) / (x^2 + t^2) over all t
  constexpr double kStep = 0.3;
  double sum = 0.5 / (x * x);
  for (int k = 1; k < 22; ++k) {
    const double t = k * kStep;
    sum += std::exp(-t * t) / (x * x + t * t);
  }
  return sum * x * 2 * kStep / kPi;
}

double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInf : kInf;
  // Newton's steps on the logarithm of the tail, which is concave: they converge from any start.
  const double target = std::log(2 * (p < 0.5 ? p : 1 - p));
  double z = std::sqrt(-2 * target);
  for (int i = 0; i < 30; ++i) {
    const double slope = -std::sqrt(2 / kPi) / erfcx(z * std::sqrt(0.5)), step = (log_tail(z) - target) / slope;
    z -= step;
    if (std::fabs(step) < 1e-15 * z) break;
  }
  return p < 0.5 ? -z : z;
}

VIVACE_IN_DOUBLE(bessel_j0)
VIVACE_IN_DOUBLE(bessel_j1)
VIVACE_IN_DOUBLE(bessel_y0)
VIVACE_IN_DOUBLE(bessel_y1)
VIVACE_IN_DOUBLE(airy_ai)
VIVACE_IN_DOUBLE(erfcx)
VIVACE_IN_DOUBLE(ndtri)
#undef VIVACE_IN_DOUBLE

}  // namespace vivace::scalar
