// Functions that loop on their data or have no short vector form; loops call them per lane.
#pragma once
#include <cstdint>

namespace vivace::scalar {

#define VIVACE_SCALAR1(name) \
  float name(float x);       \
  double name(double x);
#define VIVACE_SCALAR2(name)    \
  float name(float x, float y); \
  double name(double x, double y);

VIVACE_SCALAR1(sin)
VIVACE_SCALAR1(cos)
VIVACE_SCALAR1(tan)
VIVACE_SCALAR1(pow10)
VIVACE_SCALAR1(lgamma)
VIVACE_SCALAR1(frexp_mantissa)
VIVACE_SCALAR1(frexp_exponent)
VIVACE_SCALAR1(digamma)
VIVACE_SCALAR1(trigamma)
VIVACE_SCALAR1(erfcx)
VIVACE_SCALAR1(ndtri)
VIVACE_SCALAR1(bessel_j0)
VIVACE_SCALAR1(bessel_j1)
VIVACE_SCALAR1(bessel_y0)
VIVACE_SCALAR1(bessel_y1)
VIVACE_SCALAR1(airy_ai)
VIVACE_SCALAR2(zeta)
VIVACE_SCALAR2(polygamma)
VIVACE_SCALAR2(igamma)
VIVACE_SCALAR2(igammac)
VIVACE_SCALAR2(chebyshev_t)
VIVACE_SCALAR2(chebyshev_u)
VIVACE_SCALAR2(chebyshev_v)
VIVACE_SCALAR2(chebyshev_w)
VIVACE_SCALAR2(hermite_h)
VIVACE_SCALAR2(hermite_he)
VIVACE_SCALAR2(laguerre_l)
VIVACE_SCALAR2(legendre_p)
VIVACE_SCALAR2(pow)
VIVACE_SCALAR2(fmod)

/// x to the power y, wrapping; a negative y leaves only the powers of 1 and -1.
int64_t ipow(int64_t x, int64_t y);
uint64_t ipow(uint64_t x, uint64_t y);
/// Never negative but for the least integer, which has no opposite.
int64_t gcd(int64_t x, int64_t y);
uint64_t gcd(uint64_t x, uint64_t y);

#undef VIVACE_SCALAR1
#undef VIVACE_SCALAR2

}  // namespace vivace::scalar
