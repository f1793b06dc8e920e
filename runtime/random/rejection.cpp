// Rejection methods: how many numbers of the stream a draw takes is not known beforehand.
#include "runtime/random/rejection.h"

#include <cmath>

namespace vivace::random {

namespace {

/// log k! less Stirling's formula (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2.
double stirling_rest(double k) {
  constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k < 10) return kFirst[int(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double poisson_of_products(RandomStream& stream, double rate) {
  const double end = std::exp(-rate);
  double product = 1;
  for (int64_t k = 0;; ++k) {
    product *= stream.uniform_double();
    if (!(product > end)) return double(k);
  }
}

double poisson_by_rejection(RandomStream& stream, double rate) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = stream.uniform_double() - 0.5;
    const double v = stream.uniform_double();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double log_height = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    if (log_height <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

double binomial_of_geometrics(RandomStream& stream, double count, double p) {
  const double log_failure = std::log1p(-p);
  double trials = 0;
  for (int64_t k = 0;; ++k) {
    trials += std::ceil(std::log(stream.uniform_double()) / log_failure);
    if (trials > count) return double(k);
  }
}

double binomial_by_rejection(RandomStream& stream, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = count * p + 0.5;
  const double squeeze = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = stream.uniform_double() - 0.5;
    const double v = stream.uniform_double();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > count) continue;
    const double log_height = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(count - mode) - stirling_rest(k) - stirling_rest(count - k);
    if (log_height <= bound) return k;
  }
}

}  // namespace

double gamma(RandomStream& stream, double alpha) {
  double scale = 1;
  if (alpha < 1) {  // a number of shape alpha + 1, times a power of a uniform
    if (alpha == 0) return 0;
    scale = std::pow(1 - stream.uniform_double(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - double(1.0f / 3);  // PyTorch has the third in single precision
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, root;
    do {
      x = stream.normal();
      root = 1 + c * x;
    } while (root <= 0);
    const double v = root * root * root;
    const double u = 1 - stream.uniform_double();
    const double square = x * x;
    if (u < 1 - 0.0331 * square * square) return scale * d * v;
    if (std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

double poisson(RandomStream& stream, double rate) {
  if (rate == 0) return 0;
  return rate >= 10 ? poisson_by_rejection(stream, rate) : poisson_of_products(stream, rate);
}

double binomial(RandomStream& stream, double count, double p) {
  if (std::isnan(count) || std::isnan(p)) return std::nan("");
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p > 0.5) return count - binomial(stream, count, 1 - p);
  return count * p >= 10 ? binomial_by_rejection(stream, count, p) : binomial_of_geometrics(stream, count, p);
}

}  // namespace vivace::random
