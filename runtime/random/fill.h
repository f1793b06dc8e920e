// Distributions over plain memory: each function gives the numbers that PyTorch's CPU kernels give for the same stream.
// Integers, permutations and uniforms are equal bit for bit, the rest to rounding of the mathematical functions.
#pragma once
#include <cstdint>

#include "runtime/random/stream.h"

namespace vivace::random {

/// out[i] uniform in [from, to).
void uniform(RandomStream& stream, float* out, int64_t n, double from, double to);
void uniform(RandomStream& stream, double* out, int64_t n, double from, double to);

/// Normals of at least 16 elements in a contiguous tensor: blocks of 16 made from two halves of 8 uniforms.
/// The last 16 are drawn anew if n is no multiple of 16.
inline constexpr int64_t kNormalBlock = 16;
void normal(RandomStream& stream, float* out, int64_t n, double mean, double std);
void normal(RandomStream& stream, double* out, int64_t n, double mean, double std);
/// The same for half types, which compute in float: a partial last block takes no draws of its own.
template <class Half, class Round>
void normal_half(RandomStream& stream, Half* out, int64_t n, double mean, double std, Round round) {
  float block[kNormalBlock];
  for (int64_t i = 0; i < n; i += kNormalBlock) {
    Half* target = out + (i + kNormalBlock <= n ? i : n - kNormalBlock);
    normal(stream, block, kNormalBlock, mean, std);
    for (int64_t j = 0; j < kNormalBlock; ++j) target[j] = round(block[j]);
  }
}

/// out[i] is 1 with probability p, else 0.
void hits(RandomStream& stream, uint8_t* out, int64_t n, double p);

/// yes with probability p, else no.
template <class T>
void bernoulli(RandomStream& stream, T* out, int64_t n, double p, T yes, T no) {
  constexpr int64_t kChunk = 256;
  uint8_t hit[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = n - start < kChunk ? n - start : kChunk;
    hits(stream, hit, count, p);
    for (int64_t i = 0; i < count; ++i) out[start + i] = hit[i] ? yes : no;
  }
}

/// A permutation of 0 .. n-1.
template <class Int>
void permutation(RandomStream& stream, Int* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = Int(i);
  // A modulus of 32 random bits is even enough for short permutations only.
  const bool wide = n >= int64_t(0xffffffffu / 20);
  for (int64_t i = 0; i < n - 1; ++i) {
    const uint64_t draw = wide ? stream.next64() : stream.next32();
    const int64_t j = i + int64_t(draw % uint64_t(n - i));
    const Int swapped = out[j];
    out[j] = out[i];
    out[i] = swapped;
  }
}

/// An integer in [base, base + range); a range of 0 stands for 2^64.
inline int64_t integer(RandomStream& stream, uint64_t range, int64_t base) {
  if (range == 0) return int64_t(stream.next64());
  // As in a permutation: a wide range needs more bits than it has itself.
  const uint64_t draw = range >= (uint64_t(1) << 28) ? stream.next64() : stream.next32();
  return int64_t(draw % range + uint64_t(base));
}

}  // namespace vivace::random
