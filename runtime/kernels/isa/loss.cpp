// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/loss.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                          \
  namespace set {                                    \
  extern const dense::LossLoops<float> loss_float;   \
  extern const dense::LossLoops<double> loss_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const LossLoops<float>& loss_loops<float>() {
  static const LossLoops<float>& chosen = VIVACE_PICK(loss_float);
  return chosen;
}
template <>
const LossLoops<double>& loss_loops<double>() {
  static const LossLoops<double>& chosen = VIVACE_PICK(loss_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
