// Instruction sets: which ones the library holds and which one this process uses (chosen once, at import).
// A source NAME.isa.cpp is compiled once per set, in namespace vivace::VIVACE_ISA; VIVACE_PICK finds the chosen copy.
#pragma once
#include <cstdint>

namespace vivace {

enum class Isa : uint8_t { Baseline, Avx2, Avx512 };

/// The best set that the processor has, or the one that the environment variable VIVACE_ISA names if the processor has
/// it.
Isa isa();
const char* name(Isa isa);

}  // namespace vivace

#ifdef __x86_64__
#define VIVACE_PICK(symbol)                                  \
  (::vivace::isa() == ::vivace::Isa::Avx512 ? avx512::symbol \
   : ::vivace::isa() == ::vivace::Isa::Avx2 ? avx2::symbol   \
                                            : baseline::symbol)
/// For NAME.isa2.cpp, which has no AVX-512 copy.
#define VIVACE_PICK2(symbol) (::vivace::isa() >= ::vivace::Isa::Avx2 ? avx2::symbol : baseline::symbol)
#else
#define VIVACE_PICK(symbol) (baseline::symbol)
#define VIVACE_PICK2(symbol) (baseline::symbol)
#endif
#define VIVACE_PICK1(symbol) (baseline::symbol)
