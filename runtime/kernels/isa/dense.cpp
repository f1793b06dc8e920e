// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/dense.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                            \
  namespace set {                                      \
  extern const dense::DenseLoops<float> dense_float;   \
  extern const dense::DenseLoops<double> dense_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const DenseLoops<float>& loops<float>() {
  static const DenseLoops<float>& chosen = VIVACE_PICK(dense_float);
  return chosen;
}
template <>
const DenseLoops<double>& loops<double>() {
  static const DenseLoops<double>& chosen = VIVACE_PICK(dense_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
