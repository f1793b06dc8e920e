// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/recurrent.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                                    \
  namespace set {                                              \
  extern const dense::RecurrentLoops<float> recurrent_float;   \
  extern const dense::RecurrentLoops<double> recurrent_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const RecurrentLoops<float>& recurrent_loops<float>() {
  static const RecurrentLoops<float>& chosen = VIVACE_PICK(recurrent_float);
  return chosen;
}
template <>
const RecurrentLoops<double>& recurrent_loops<double>() {
  static const RecurrentLoops<double>& chosen = VIVACE_PICK(recurrent_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
