// Products of bfloat16 matrices by the instruction for them, where the processor has it. Elements go in pairs that
// follow each other along the summed dim; an odd last one has a zero beside it.
#pragma once
#include <cstdint>

namespace vivace::bfloat16 {

/// Of a tile of sums: 24 of 32 registers.
inline constexpr int64_t kRows = 8, kColumns = 48;

struct Loops {
  /// sums (rows, kColumns) = a @ b in the first columns; pairs of a's rows are a_row apart, b is [pair][kColumns].
  void (*panel)(int64_t rows, int64_t columns, int64_t pairs, const uint32_t* a, int64_t a_row, const uint32_t* b,
                float* sums);
  /// to[i] = the pair (even[i], odd[i]), or (even[i], 0) if odd is null.
  void (*interleave)(const uint16_t* even, const uint16_t* odd, uint32_t* to, int64_t n);
  /// Rounds the first columns of sums (rows, kColumns).
  void (*narrow)(int64_t rows, int64_t columns, const float* sums, uint16_t* to, int64_t to_row);
};

/// Null where there is no such instruction.
const Loops* loops();

}  // namespace vivace::bfloat16
