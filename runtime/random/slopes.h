// How random numbers move with the parameters of their distributions when their quantile stays.
#pragma once

namespace vivace::random {

/// dx / d alpha of a gamma number x of shape alpha and rate 1.
double gamma_slope(double alpha, double x);

/// dx / d alpha / (1 - x) of a beta number x with concentrations alpha and total - alpha.
double beta_slope(double x, double alpha, double total);

}  // namespace vivace::random
