// Picks the loops of the instruction set that this process uses.
#include "runtime/kernels/isa/fft.h"

#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set)                        \
  namespace set {                                  \
  extern const dense::FftLoops<float> fft_float;   \
  extern const dense::FftLoops<double> fft_double; \
  }
VIVACE_DECLARE(baseline)
#ifdef __x86_64__
VIVACE_DECLARE(avx2)
VIVACE_DECLARE(avx512)
#endif
#undef VIVACE_DECLARE

namespace dense {

template <>
const FftLoops<float>& fft_loops<float>() {
  static const FftLoops<float>& chosen = VIVACE_PICK(fft_float);
  return chosen;
}
template <>
const FftLoops<double>& fft_loops<double>() {
  static const FftLoops<double>& chosen = VIVACE_PICK(fft_double);
  return chosen;
}

}  // namespace dense
}  // namespace vivace
