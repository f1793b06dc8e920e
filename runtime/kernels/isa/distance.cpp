// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/distance.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                                  \
  namespace set {                                            \
  extern const dense::DistanceLoops<float> distance_float;   \
  extern const dense::DistanceLoops<double> distance_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const DistanceLoops<float>& distance_loops<float>() {
  static const DistanceLoops<float>& chosen = VIVACE_PICK(distance_float);
  return chosen;
}
template <>
const DistanceLoops<double>& distance_loops<double>() {
  static const DistanceLoops<double>& chosen = VIVACE_PICK(distance_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
