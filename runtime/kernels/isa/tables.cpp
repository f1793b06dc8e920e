// Picks the loops of the instruction set that this process uses, for every table of this folder.
#include "runtime/kernels/isa/bfloat16.h"
#include "runtime/kernels/isa/conv.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/isa/distance.h"
#include "runtime/kernels/isa/fft.h"
#include "runtime/kernels/isa/integer.h"
#include "runtime/kernels/isa/loss.h"
#include "runtime/kernels/isa/pool.h"
#include "runtime/kernels/isa/recurrent.h"
#include "runtime/kernels/isa/sampling.h"
#include "runtime/simd/isa.h"

namespace vivace {

#define VIVACE_DECLARE(set, Loops, name, T, U) \
  namespace set {                              \
  extern const dense::Loops<T> name##_##T;     \
  extern const dense::Loops<U> name##_##U;     \
  }
#ifdef __x86_64__
#define VIVACE_DECLARE_ALL(Loops, name, T, U) \
  VIVACE_DECLARE(baseline, Loops, name, T, U) \
  VIVACE_DECLARE(avx2, Loops, name, T, U)     \
  VIVACE_DECLARE(avx512, Loops, name, T, U)
#else
#define VIVACE_DECLARE_ALL(Loops, name, T, U) VIVACE_DECLARE(baseline, Loops, name, T, U)
#endif

/// Defines dense::function<T>() and <U>() for NAME_T and NAME_U of NAME.isa.cpp.
#define VIVACE_TABLE_OF(Loops, name, function, T, U)         \
  VIVACE_DECLARE_ALL(Loops, name, T, U)                      \
  namespace dense {                                          \
  template <>                                                \
  const Loops<T>& function<T>() {                            \
    static const Loops<T>& chosen = VIVACE_PICK(name##_##T); \
    return chosen;                                           \
  }                                                          \
  template <>                                                \
  const Loops<U>& function<U>() {                            \
    static const Loops<U>& chosen = VIVACE_PICK(name##_##U); \
    return chosen;                                           \
  }                                                          \
  }
#define VIVACE_TABLE(Loops, name, function) VIVACE_TABLE_OF(Loops, name, function, float, double)

VIVACE_TABLE(ConvLoops, conv, conv_loops)
VIVACE_TABLE(DenseLoops, dense, loops)
VIVACE_TABLE(DistanceLoops, distance, distance_loops)
VIVACE_TABLE(FftLoops, fft, fft_loops)
VIVACE_TABLE_OF(IntegerLoops, integer, integer_loops, int32_t, int64_t)
VIVACE_TABLE(LossLoops, loss, loss_loops)
VIVACE_TABLE(PoolLoops, pool, pool_loops)
VIVACE_TABLE(RecurrentLoops, recurrent, recurrent_loops)
VIVACE_TABLE(SamplingLoops, sampling, sampling_loops)

#ifdef __x86_64__
namespace avx512 {
extern const bfloat16::Loops bfloat16_loops;
}
#endif

const bfloat16::Loops* bfloat16::loops() {
#ifdef __x86_64__
  static const bool is_there = isa() == Isa::Avx512 && __builtin_cpu_supports("avx512bf16");
  if (is_there) return &avx512::bfloat16_loops;
#endif
  return nullptr;
}

}  // namespace vivace
