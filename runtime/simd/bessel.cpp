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
constexpr double kEuler = 0.57721566490153286061;

/// I_order(x) for 0 <= x <= 30 (order 0 or 1): all terms are positive.
double i_series(int order, double x) {
  const double z = x * x / 4;
  double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= z / (double(k) * (k + order));
    sum += term;
  }
  return sum;
}

/// exp(-x) I_order(x) for x > 30: the asymptotic series, whose smallest term is below 1e-25 there.
double ie_far(int order, double x) {
  const double mu = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-17; ++k) {
    term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * x);
}

double i_scaled(int order, double x) {
  const double a = std::fabs(x);
  if (std::isinf(a)) return order ? std::copysign(0.0, x) : 0;
  const double value = a <= 30 ? i_series(order, a) * std::exp(-a) : ie_far(order, a);
  return order && x < 0 ? -value : value;
}

double i_plain(int order, double x) {
  const double a = std::fabs(x);
  if (std::isinf(a)) return order ? x : a;
  if (a <= 30) return order ? std::copysign(i_series(1, a), x) : i_series(0, a);
  const double half = std::exp(a / 2), value = half * ie_far(order, a) * half;
  return order && x < 0 ? -value : value;
}

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

/// K_order(x) for 0 < x <= 1.
double k_near(int order, double x) {
  const double z = x * x / 4, log_half = std::log(x / 2);
  if (order == 0) {
    double term = 1, harmonic = 0, sum = 0;
    for (int k = 1; k < 20; ++k) {
      term *= z / (double(k) * k);
      harmonic += 1.0 / k;
      sum += term * harmonic;
    }
    return sum - (log_half + kEuler) * i_series(0, x);
  }
  double term = 1, psi = 1 - 2 * kEuler, sum = psi;  // psi(k + 1) + psi(k + 2)
  for (int k = 1; k < 20; ++k) {
    term *= z / (double(k) * (k + 1));
    psi += 1.0 / k + 1.0 / (k + 1);
    sum += term * psi;
  }
  return 1 / x + log_half * i_series(1, x) - x / 4 * sum;
}

double k_value(int order, double x, bool is_scaled) {
  if (!(x >= 0)) return kNaN;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0;
  if (x <= 1) return k_near(order, x) * (is_scaled ? std::exp(x) : 1);
  return ke_integral(order, x) * (is_scaled ? 1 : std::exp(-x));
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
double bessel_i0(double x) { return std::isnan(x) ? x : i_plain(0, x); }
double bessel_i1(double x) { return std::isnan(x) ? x : i_plain(1, x); }
double bessel_i0e(double x) { return std::isnan(x) ? x : i_scaled(0, x); }
double bessel_i1e(double x) { return std::isnan(x) ? x : i_scaled(1, x); }
double bessel_k0(double x) { return k_value(0, x, false); }
double bessel_k1(double x) { return k_value(1, x, false); }
double bessel_k0e(double x) { return k_value(0, x, true); }
double bessel_k1e(double x) { return k_value(1, x, true); }
double spherical_bessel_j0(double x) { return std::isinf(x) ? 0 : std::fabs(x) < 1e-8 ? 1 : std::sin(x) / x; }

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
  if (std::fabs(p - 0.5) < 0.25) return std::sqrt(2.0) * erfinv(2 * p - 1);
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
VIVACE_IN_DOUBLE(bessel_i0)
VIVACE_IN_DOUBLE(bessel_i1)
VIVACE_IN_DOUBLE(bessel_i0e)
VIVACE_IN_DOUBLE(bessel_i1e)
VIVACE_IN_DOUBLE(bessel_k0)
VIVACE_IN_DOUBLE(bessel_k1)
VIVACE_IN_DOUBLE(bessel_k0e)
VIVACE_IN_DOUBLE(bessel_k1e)
VIVACE_IN_DOUBLE(spherical_bessel_j0)
VIVACE_IN_DOUBLE(airy_ai)
VIVACE_IN_DOUBLE(erfcx)
VIVACE_IN_DOUBLE(ndtri)
#undef VIVACE_IN_DOUBLE

}  // namespace vivace::scalar
