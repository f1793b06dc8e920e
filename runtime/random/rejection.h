// Single numbers from distributions that have no closed form of their own. They take draws from the stream in the order
// in which PyTorch takes them, in double precision.
#pragma once
#include "runtime/random/stream.h"

namespace vivace::random {

/// Shape alpha, rate 1: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
double gamma(RandomStream& stream, double alpha);

/// Products of uniforms below a rate of 10; from there on PTRS of Hoermann, "The transformed rejection method for
/// generating Poisson random variables" (1993).
double poisson(RandomStream& stream, double rate);

/// Sums of geometric numbers if fewer than 10 successes are expected; else BTRS of Hoermann, "The generation of
/// binomial random variates" (1993).
double binomial(RandomStream& stream, double count, double p);

}  // namespace vivace::random
