// Conversions between float32 and the half types, one set per instruction set.
#pragma once
#include <cstdint>

#include "runtime/simd/isa.h"

namespace vivace {

struct HalfLoops {
  void (*to_half)(char* to, const char* from, int64_t n);  // from float32
  void (*from_half)(char* to, const char* from, int64_t n);
  void (*to_bfloat16)(char* to, const char* from, int64_t n);
  void (*from_bfloat16)(char* to, const char* from, int64_t n);
};

namespace baseline {
extern const HalfLoops half_loops;
}
namespace avx2 {
extern const HalfLoops half_loops;
}
namespace avx512 {
extern const HalfLoops half_loops;
}

}  // namespace vivace
