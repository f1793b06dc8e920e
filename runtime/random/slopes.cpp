// With density p(t; a) and cumulative F, dx/da = -(dF/da) / p(x), and dF/da is the integral of (d log p / da) p up to
// x, or less that from x on. In the variable v >= 0, the distance from x of log t or logit t, both tails are smooth and
// end exponentially; the one on which p falls from x on is taken, as the other may have a sharp bend far away.
#include "runtime/random/slopes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/simd/scalar_math.h"

namespace vivace::random {

namespace {

struct Nodes {
  static constexpr int kCount = 112;
  std::array<double, kCount> at, weight;
};

/// Double exponential quadrature over v >= 0 for integrands that fall off like exp(-v).
const Nodes& nodes() {
  static const Nodes made = [] {
    constexpr double kFirst = -3.5, kStep = 0.1;
    Nodes n;
    for (int i = 0; i < Nodes::kCount; ++i) {
      const double u = kFirst + kStep * i;
      n.at[size_t(i)] = std::exp(u - std::exp(-u));
      n.weight[size_t(i)] = n.at[size_t(i)] * (1 + std::exp(-u)) * kStep;
    }
    return n;
  }();
  return made;
}

template <class F>
double integrate(double length, F f) {
  const Nodes& n = nodes();
  double sum = 0;
  for (int i = 0; i < Nodes::kCount; ++i) sum += f(n.at[size_t(i)] * length) * n.weight[size_t(i)];
  return sum * length;
}

/// How far a tail reaches, from the slope and the curvature of its logarithm at its start.
double reach(double slope, double curvature) { return 1 / (std::fabs(slope) + std::sqrt(curvature)); }

/// log(p exp(-v) + rest) with rest = 1 - p, either of which may be tiny.
double log_mix(double p, double rest, double v) {
  return v < 1 ? std::log1p(p * std::expm1(-v)) : std::log(rest + p * std::exp(-v));
}

}  // namespace

double gamma_slope(double alpha, double x) {
  if (!(x > 0)) return x == 0 ? 0 : std::nan("");
  const double score = std::log(x) - scalar::digamma(alpha);
  const double length = reach(alpha - x, x);
  if (x < alpha)
    return -x * integrate(length, [&](double v) { return (score - v) * std::exp(-alpha * v - x * std::expm1(-v)); });
  return x * integrate(length, [&](double v) { return (score + v) * std::exp(alpha * v - x * std::expm1(v)); });
}

double beta_slope(double x, double alpha, double total) {
  if (!(x >= 0 && x <= 1)) return std::nan("");
  constexpr double kLeast = std::numeric_limits<double>::min();
  x = std::max(x, kLeast);
  const double rest = std::max(1 - x, kLeast);
  const double score = std::log(x) - scalar::digamma(alpha) + scalar::digamma(total);
  const double length = reach(alpha - total * x, total * x * rest);
  if (total * x < alpha) {
    return -x * integrate(length, [&](double v) {
      const double norm = log_mix(x, rest, v);
      return (score - v - norm) * std::exp(-alpha * v - total * norm);
    });
  }
  return x * integrate(length, [&](double v) {
           const double norm = log_mix(rest, x, v);
           return (score - norm) * std::exp(-(total - alpha) * v - total * norm);
         });
}

}  // namespace vivace::random
