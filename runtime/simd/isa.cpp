// The choice of an instruction set: the best that the processor has, unless VIVACE_ISA says otherwise.
#include "runtime/simd/isa.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace vivace {

int integer_division_by_zero = 0;

const char* name(Isa isa) {
  switch (isa) {
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Baseline:
      break;
  }
  return "baseline";
}

namespace {

Isa best() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    return Isa::Avx2;
#endif
  return Isa::Baseline;
}

Isa choose() {
  const Isa limit = best();
  const char* wanted = std::getenv("VIVACE_ISA");
  if (wanted == nullptr) return limit;
  for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
    if (isa <= limit && std::strcmp(wanted, name(isa)) == 0) return isa;
  return limit;
}

}  // namespace

Isa isa() {
  static const Isa chosen = choose();
  return chosen;
}

}  // namespace vivace
