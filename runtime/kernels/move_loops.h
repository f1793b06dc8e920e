// Loops that move elements, one set per instruction set: filling, reversing, conversion between the types that programs
// convert most.
#pragma once
#include <cstdint>

#include "runtime/simd/isa.h"

namespace vivace {

using Convert = void (*)(char* to, const char* from, int64_t n);

/// Bytes behind its end that MoveLoops::spread may write.
inline constexpr int64_t kSpreadSlack = 64;

/// Rows and columns of MoveLoops::plain.
enum PlainType : int { kPlainFloat, kPlainDouble, kPlainInt32, kPlainInt64, kPlainUInt8, kPlainTypes };

struct MoveLoops {
  Convert to_half, from_half, to_bfloat16, from_bfloat16;  // from and to float32
  Convert plain[kPlainTypes][kPlainTypes];                 // [to][from]; null for a type itself
  Convert to_bool[kPlainTypes];                            // [from]
  /// Repeats an element of 1, 2, 4, 8 or 16 bytes over nbytes.
  void (*fill)(char* to, const char* element, int64_t size, int64_t nbytes);
  /// Repeats each of `count` such elements n times.
  void (*spread)(char* to, const char* elements, int64_t size, int64_t count, int64_t n);
  /// to[i] = from[-i] for n elements of so many bytes.
  void (*reverse1)(char* to, const char* from, int64_t n);
  void (*reverse4)(char* to, const char* from, int64_t n);
  void (*reverse8)(char* to, const char* from, int64_t n);
  /// Whether 0 <= index[i] < size for all n.
  bool (*all_below)(const int64_t* index, int64_t n, int64_t size);
  /// Column c of `to` is row c of `from`, for elements of 4 or 8 bytes; rows are the steps (in bytes) apart.
  void (*transpose4)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t rows, int64_t columns);
  void (*transpose8)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t rows, int64_t columns);
};

/// Those of the instruction set that this process uses.
const MoveLoops& move_loops();

namespace baseline {
extern const MoveLoops move_loops;
}
namespace avx2 {
extern const MoveLoops move_loops;
}
namespace avx512 {
extern const MoveLoops move_loops;
}

}  // namespace vivace
