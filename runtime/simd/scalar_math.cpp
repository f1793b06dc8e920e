// The C library's functions, in double for float arguments, and those that it lacks.
#include "runtime/simd/scalar_math.h"

#include <cmath>
#include <limits>

namespace vivace::scalar {

#define VIVACE_LIBM1(name)                                    \
  float name(float x) { return float(std::name(double(x))); } \
  double name(double x) { return std::name(x); }
#define VIVACE_LIBM2(name)                                                        \
  float name(float x, float y) { return float(std::name(double(x), double(y))); } \
  double name(double x, double y) { return std::name(x, y); }

VIVACE_LIBM1(sin)
VIVACE_LIBM1(cos)
VIVACE_LIBM1(tan)
VIVACE_LIBM2(pow)
#undef VIVACE_LIBM1
#undef VIVACE_LIBM2

// These give the exact result in the argument's own type.
float fmod(float x, float y) { return std::fmod(x, y); }
double fmod(double x, double y) { return std::fmod(x, y); }

double pow10(double x) { return std::pow(10.0, x); }
float pow10(float x) { return float(std::pow(10.0, double(x))); }

// std::lgamma writes the sign to a global.
double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
float lgamma(float x) { return float(lgamma(double(x))); }

double frexp_mantissa(double x) {
  int exponent;
  return std::frexp(x, &exponent);
}
float frexp_mantissa(float x) { return float(frexp_mantissa(double(x))); }

double frexp_exponent(double x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}
float frexp_exponent(float x) { return float(frexp_exponent(double(x))); }

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// pi / tan(pi x), exact in its zeros and poles.
double pi_cot_pi(double x) {
  const double r = x - std::round(x);
  return std::fabs(r) == 0.5 ? 0 : kPi / std::tan(kPi * r);
}

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x == -kInf) return kNaN;
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNaN;
    result = -pi_cot_pi(x);  // reflection
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  // Asymptotic series in 1 / x^2 with Bernoulli's numbers.
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}
float digamma(float x) { return float(digamma(double(x))); }

double trigamma(double x) {
  if (x < 0.5) {  // reflection
    const double s = std::sin(kPi * (x - std::round(x)));
    return kPi * kPi / (s * s) - trigamma(1 - x);
  }
  double result = 0;
  for (; x < 10; x += 1) result += 1 / (x * x);
  const double z = 1 / (x * x);
  return result + 1 / x + z / 2 +
         z / x * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * 691.0 / 2730)))));
}
float trigamma(float x) { return float(trigamma(double(x))); }

uint64_t ipow(uint64_t x, uint64_t y) {
  uint64_t result = 1;
  for (; y != 0; y >>= 1, x *= x)
    if (y & 1) result *= x;
  return result;
}
int64_t ipow(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  return int64_t(ipow(uint64_t(x), uint64_t(y)));
}

uint64_t gcd(uint64_t x, uint64_t y) {
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}
int64_t gcd(int64_t x, int64_t y) {
  return int64_t(gcd(x < 0 ? -uint64_t(x) : uint64_t(x), y < 0 ? -uint64_t(y) : uint64_t(y)));
}

}  // namespace vivace::scalar
