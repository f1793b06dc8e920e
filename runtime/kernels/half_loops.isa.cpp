#include "runtime/kernels/half_loops.h"

namespace vivace {
namespace {

static inline uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
static inline float number(uint32_t b) { return __builtin_bit_cast(float, b); }

// Both results are computed and one is chosen, without branches, so that the compiler makes vectors of the loops.

void to_half(char* to, const char* from, int64_t n) {
  uint16_t* __restrict out = reinterpret_cast<uint16_t*>(to);
  const float* __restrict in = reinterpret_cast<const float*>(from);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t b = bits(in[i]), sign = (b >> 16) & 0x8000u, size = b & 0x7fffffffu;
    const uint32_t small = bits(number(size) + 0.5f) - 0x3f000000u;  // aligned to half's subnormal grid by the addition
    const uint32_t normal = (size + 0xc8000fffu + ((size >> 13) & 1)) >> 13;
    uint32_t h = size < 0x38800000u ? small : normal;
    h = size >= 0x477ff000u ? 0x7c00u : h;
    h = size > 0x7f800000u ? 0x7e00u : h;
    out[i] = uint16_t(sign | h);
  }
}

void from_half(char* to, const char* from, int64_t n) {
  float* __restrict out = reinterpret_cast<float*>(to);
  const uint16_t* __restrict in = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t h = in[i], sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    const uint32_t special = 0x7f800000u | ((rest & 0x3ffu) << 13);
    const uint32_t finite =
        bits(number(rest << 13) * number(uint32_t(239) << 23));  // times 2^112: rebases the exponent
    out[i] = number(sign | (rest >= 0x7c00u ? special : finite));
  }
}

void to_bfloat16(char* to, const char* from, int64_t n) {
  uint16_t* __restrict out = reinterpret_cast<uint16_t*>(to);
  const float* __restrict in = reinterpret_cast<const float*>(from);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t b = bits(in[i]), rounded = (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
    out[i] = uint16_t((b & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
  }
}

void from_bfloat16(char* to, const char* from, int64_t n) {
  float* __restrict out = reinterpret_cast<float*>(to);
  const uint16_t* __restrict in = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; ++i) out[i] = number(uint32_t(in[i]) << 16);
}

}  // namespace

namespace VIVACE_ISA {
extern const HalfLoops half_loops;
const HalfLoops half_loops = {to_half, from_half, to_bfloat16, from_bfloat16};
}  // namespace VIVACE_ISA

}  // namespace vivace
