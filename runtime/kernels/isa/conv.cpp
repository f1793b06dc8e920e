// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/conv.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                          \
  namespace set {                                    \
  extern const dense::ConvLoops<float> conv_float;   \
  extern const dense::ConvLoops<double> conv_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const ConvLoops<float>& conv_loops<float>() {
  static const ConvLoops<float>& chosen = VIVACE_PICK(conv_float);
  return chosen;
}
template <>
const ConvLoops<double>& conv_loops<double>() {
  static const ConvLoops<double>& chosen = VIVACE_PICK(conv_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
