// Hurwitz' zeta, polygamma and the incomplete gamma functions, computed in double.
#include <cmath>
#include <limits>

#include "runtime/simd/scalar_math.h"

namespace vivace::scalar {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// zeta(x, q) for x > 1, q > 0: some terms of the sum, then Euler and Maclaurin's formula for the rest.
double zeta_positive(double x, double q) {
  // B(2k) / (2k)!
  constexpr double kCoefficients[] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368e3,
                                      1.0 / 74724249600.0,
                                      -3617.0 / 1067062284288e4};
  double sum = 0, w = q;
  for (int k = 0; k < 10 || w < 10; ++k, w += 1) {
    const double term = std::pow(w, -x);
    sum += term;
    if (term <= sum * 1e-17) return sum;
  }
  double power = std::pow(w, -x), rise = x / w;
  sum += power * w / (x - 1) + power / 2;
  for (int k = 0; k < 8; ++k) {
    const double term = kCoefficients[k] * rise * power;
    sum += term;
    if (std::fabs(term) < sum * 1e-17) break;
    rise *= (x + 2 * k + 1) * (x + 2 * k + 2) / (w * w);
  }
  return sum;
}

/// log(1 + x) - x without cancellation near 0.
double log1p_minus(double x) {
  if (std::fabs(x) > 0.25) return std::log1p(x) - x;
  double sum = 0, power = -x * x;
  for (int k = 2; k < 60; ++k, power *= -x) {
    const double term = power / k;
    sum += term;
    if (std::fabs(term) < std::fabs(sum) * 1e-17) break;
  }
  return sum;
}

/// x^a exp(-x) / gamma(a + 1)
double density(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  const double inverse = 1 / (a * a);
  const double stirling = (1.0 / 12 - inverse * (1.0 / 360 - inverse * (1.0 / 1260 - inverse / 1680))) / a;
  return std::exp(a * log1p_minus((x - a) / a) - stirling) / std::sqrt(2 * kPi * a);
}

/// P(a, x), for x below a or so.
double lower_series(double a, double x) {
  double term = 1, sum = 1;
  for (double k = 1; term > sum * 1e-17; k += 1) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * density(a, x);
}

/// Q(a, x) by its continued fraction (Lentz' method), for x above a or so.
double upper_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (double k = 1; k < 1e5; k += 1) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return h * a * density(a, x);
}

/// Q(a, x) for x at most 1.1 and a small: 1 - P with what cancels taken out.
double upper_near(double a, double x) {
  double term = 1, sum = 0;  // x^a sum (-x)^k / (k! (a + k)) without k = 0
  for (int k = 1; k < 60; ++k) {
    term *= -x / k;
    sum += term / (a + k);
    if (std::fabs(term) < 1e-18) break;
  }
  const double log_x = std::log(x);
  const double rest = -std::expm1(a * log_x - lgamma(a + 1));  // 1 - x^a / gamma(a + 1)
  return rest - sum * a * std::exp(a * log_x - lgamma(a + 1));
}

/// Temme's uniform expansion for large a. Returns Q for upper, else P.
double uniform(double a, double x, bool upper) {
  const double mu = (x - a) / a, half = -log1p_minus(mu);  // eta^2 / 2
  const double eta = std::copysign(std::sqrt(2 * half), mu);
  const double c0 = -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864)), c1 = -1.0 / 540 - eta / 288;
  const double rest = std::exp(-a * half) / std::sqrt(2 * kPi * a) * (c0 + c1 / a);
  const double sign = upper ? 1 : -1;
  return std::erfc(sign * eta * std::sqrt(a / 2)) / 2 + sign * rest;
}

double incomplete(double a, double x, bool upper) {
  if (x < 0 || a < 0 || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x)) || std::isnan(a + x)) return kNaN;
  const auto either = [&](double p) { return upper ? 1 - p : p; };
  if (a == 0 || std::isinf(x)) return either(1);
  if (x == 0 || std::isinf(a)) return either(0);
  if (a > 1e5 && std::fabs(x - a) < 0.05 * a) return uniform(a, x, upper);
  if (upper && x <= 1.1 && a < 1) return upper_near(a, x);
  if (x <= 1.1 || x <= a) return either(lower_series(a, x));
  const double q = upper_fraction(a, x);
  return upper ? q : 1 - q;
}

}  // namespace

double zeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x >= 1) || std::isnan(q)) return kNaN;
  if (q > 0) return zeta_positive(x, q);
  if (q == std::floor(q)) return kInf;
  if (x != std::floor(x)) return kNaN;
  // Terms of both signs: those above 0, and the mirrored ones below.
  const double part = q - std::floor(q);
  const double below = zeta_positive(x, 1 - part) - zeta_positive(x, 1 - q);
  return zeta_positive(x, part) + (std::fmod(x, 2) == 0 ? below : -below);
}
float zeta(float x, float q) { return float(zeta(double(x), double(q))); }

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  return (std::fmod(n, 2) == 0 ? -1 : 1) * std::tgamma(n + 1) * zeta(n + 1, x);
}
float polygamma(float n, float x) { return float(polygamma(double(n), double(x))); }

double igamma(double a, double x) { return incomplete(a, x, false); }
float igamma(float a, float x) { return float(incomplete(a, x, false)); }
double igammac(double a, double x) { return incomplete(a, x, true); }
float igammac(float a, float x) { return float(incomplete(a, x, true)); }

}  // namespace vivace::scalar
