// Picks the loops of the instruction set that this process uses, for every table of this folder.
#include "runtime/kernels/isa/conv.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/isa/distance.h"
#include "runtime/kernels/isa/fft.h"
#include "runtime/kernels/isa/loss.h"
#include "runtime/kernels/isa/recurrent.h"
#include "runtime/kernels/isa/sampling.h"
#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set, Loops, name)           \
  namespace set {                                  \
  extern const dense::Loops<float> name##_float;   \
  extern const dense::Loops<double> name##_double; \
  }
#ifdef __x86_64__
#define VIVACE_DECLARE_ALL(Loops, name) \
  VIVACE_DECLARE(baseline, Loops, name) \
  VIVACE_DECLARE(avx2, Loops, name)     \
  VIVACE_DECLARE(avx512, Loops, name)
#else
#define VIVACE_DECLARE_ALL(Loops, name) VIVACE_DECLARE(baseline, Loops, name)
#endif

/// Defines dense::function<T>() for NAME_float and NAME_double of NAME.isa.cpp.
#define VIVACE_TABLE(Loops, name, function)                          \
  VIVACE_DECLARE_ALL(Loops, name)                                    \
  namespace dense {                                                  \
  template <>                                                        \
  const Loops<float>& function<float>() {                            \
    static const Loops<float>& chosen = VIVACE_PICK(name##_float);   \
    return chosen;                                                   \
  }                                                                  \
  template <>                                                        \
  const Loops<double>& function<double>() {                          \
    static const Loops<double>& chosen = VIVACE_PICK(name##_double); \
    return chosen;                                                   \
  }                                                                  \
  }

VIVACE_TABLE(ConvLoops, conv, conv_loops)
VIVACE_TABLE(DenseLoops, dense, loops)
VIVACE_TABLE(DistanceLoops, distance, distance_loops)
VIVACE_TABLE(FftLoops, fft, fft_loops)
VIVACE_TABLE(LossLoops, loss, loss_loops)
VIVACE_TABLE(RecurrentLoops, recurrent, recurrent_loops)
VIVACE_TABLE(SamplingLoops, sampling, sampling_loops)

}  // namespace vivace
