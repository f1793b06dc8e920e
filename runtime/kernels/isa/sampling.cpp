// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/sampling.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                                  \
  namespace set {                                            \
  extern const dense::SamplingLoops<float> sampling_float;   \
  extern const dense::SamplingLoops<double> sampling_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const SamplingLoops<float>& sampling_loops<float>() {
  static const SamplingLoops<float>& chosen = VIVACE_PICK(sampling_float);
  return chosen;
}
template <>
const SamplingLoops<double>& sampling_loops<double>() {
  static const SamplingLoops<double>& chosen = VIVACE_PICK(sampling_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
