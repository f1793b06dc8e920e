// The vector layer: vectors as wide as the instruction set has them, and the primitives that generated loops are made
// of. Arithmetic and comparison are the compiler's vector operators; what those cannot say is here in terms of a few
// functions that x86.h or neon.h define per set. All is internal to the file that includes it: no symbol leaves an
// object of one set.
#pragma once
#include <cstdint>

#include "runtime/simd/scalar_math.h"

namespace vivace {
namespace {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

#define VIVACE_INLINE [[gnu::always_inline]] static inline

typedef float f32 __attribute__((vector_size(kVectorBytes)));
typedef double f64 __attribute__((vector_size(kVectorBytes)));
typedef int32_t i32 __attribute__((vector_size(kVectorBytes)));
typedef int64_t i64 __attribute__((vector_size(kVectorBytes)));
typedef uint32_t u32 __attribute__((vector_size(kVectorBytes)));
typedef uint64_t u64 __attribute__((vector_size(kVectorBytes)));
typedef uint8_t u8 __attribute__((vector_size(kVectorBytes)));
// Masks: all bits of a lane, or none.
typedef i32 m32;
typedef i64 m64;
typedef int8_t m8 __attribute__((vector_size(kVectorBytes)));

/// The vector of an element type, and the other way round.
template <class T>
struct VecOf;
template <>
struct VecOf<float> {
  typedef f32 type;
  typedef i32 index;
};
template <>
struct VecOf<double> {
  typedef f64 type;
  typedef i64 index;
};
template <>
struct VecOf<int32_t> {
  typedef i32 type;
  typedef i32 index;
};
template <>
struct VecOf<int64_t> {
  typedef i64 type;
  typedef i64 index;
};
template <>
struct VecOf<uint32_t> {
  typedef u32 type;
  typedef i32 index;
};
template <>
struct VecOf<uint64_t> {
  typedef u64 type;
  typedef i64 index;
};
template <>
struct VecOf<uint8_t> {
  typedef u8 type;
};
template <class T>
using Vec = typename VecOf<T>::type;
/// The signed integers with as many lanes.
template <class T>
using Index = typename VecOf<T>::index;
template <class T>
inline constexpr int lanes = kVectorBytes / int(sizeof(T));

template <class V>
using Element = __typeof__(V{}[0]);

template <class T>
VIVACE_INLINE Vec<T> splat(T x) {
  return x - Vec<T>{};  // x - 0 is x for -0 too
}

// ---- bits

template <class To, class From>
VIVACE_INLINE To bitcast(From x) {
  return reinterpret_cast<To>(x);
}
VIVACE_INLINE u32 bits(f32 x) { return reinterpret_cast<u32>(x); }
VIVACE_INLINE u64 bits(f64 x) { return reinterpret_cast<u64>(x); }
VIVACE_INLINE u32 bits(i32 x) { return u32(x); }
VIVACE_INLINE u64 bits(i64 x) { return u64(x); }
VIVACE_INLINE u64 bits(u64 x) { return x; }
VIVACE_INLINE u8 bits(u8 x) { return x; }
inline constexpr uint32_t kSign32 = 0x80000000u;
inline constexpr uint64_t kSign64 = 0x8000000000000000u;

VIVACE_INLINE f32 neg(f32 x) { return -x; }
VIVACE_INLINE f64 neg(f64 x) { return -x; }
VIVACE_INLINE f32 abs(f32 x) { return bitcast<f32>(bits(x) & ~kSign32); }
VIVACE_INLINE f64 abs(f64 x) { return bitcast<f64>(bits(x) & ~kSign64); }
/// x with the sign of s; x has none.
VIVACE_INLINE f32 with_sign(f32 x, f32 s) { return bitcast<f32>(bits(x) | (bits(s) & kSign32)); }
VIVACE_INLINE f64 with_sign(f64 x, f64 s) { return bitcast<f64>(bits(x) | (bits(s) & kSign64)); }

template <class M, class V>
VIVACE_INLINE V where(M mask, V a, V b) {
  return mask ? a : b;
}

/// Keeps the upper half of the significand, so that the product of two such values is exact.
VIVACE_INLINE f32 low_bits(f32 x) { return bitcast<f32>(bits(x) & 0xfffff000u); }
VIVACE_INLINE f64 low_bits(f64 x) { return bitcast<f64>(bits(x) & 0xfffffffff8000000u); }

// ---- integers: results are defined for all operands

VIVACE_INLINE i32 add(i32 a, i32 b) { return i32(u32(a) + u32(b)); }
VIVACE_INLINE i64 add(i64 a, i64 b) { return i64(u64(a) + u64(b)); }
VIVACE_INLINE u64 add(u64 a, u64 b) { return a + b; }
VIVACE_INLINE u8 add(u8 a, u8 b) { return a + b; }
VIVACE_INLINE f32 add(f32 a, f32 b) { return a + b; }
VIVACE_INLINE f64 add(f64 a, f64 b) { return a + b; }
VIVACE_INLINE i32 sub(i32 a, i32 b) { return i32(u32(a) - u32(b)); }
VIVACE_INLINE i64 sub(i64 a, i64 b) { return i64(u64(a) - u64(b)); }
VIVACE_INLINE u64 sub(u64 a, u64 b) { return a - b; }
VIVACE_INLINE u8 sub(u8 a, u8 b) { return a - b; }
VIVACE_INLINE f32 sub(f32 a, f32 b) { return a - b; }
VIVACE_INLINE f64 sub(f64 a, f64 b) { return a - b; }
VIVACE_INLINE i32 mul(i32 a, i32 b) { return i32(u32(a) * u32(b)); }
VIVACE_INLINE i64 mul(i64 a, i64 b) { return i64(u64(a) * u64(b)); }
VIVACE_INLINE u64 mul(u64 a, u64 b) { return a * b; }
VIVACE_INLINE u8 mul(u8 a, u8 b) { return a * b; }
VIVACE_INLINE f32 mul(f32 a, f32 b) { return a * b; }
VIVACE_INLINE f64 mul(f64 a, f64 b) { return a * b; }
VIVACE_INLINE f32 div(f32 a, f32 b) { return a / b; }
VIVACE_INLINE f64 div(f64 a, f64 b) { return a / b; }
VIVACE_INLINE i32 neg(i32 a) { return i32(-u32(a)); }
VIVACE_INLINE i64 neg(i64 a) { return i64(-u64(a)); }
VIVACE_INLINE u64 neg(u64 a) { return -a; }
VIVACE_INLINE u8 neg(u8 a) { return -a; }
VIVACE_INLINE i32 abs(i32 a) { return where(a < 0, neg(a), a); }
VIVACE_INLINE i64 abs(i64 a) { return where(a < 0, neg(a), a); }
VIVACE_INLINE u64 abs(u64 a) { return a; }
VIVACE_INLINE u8 abs(u8 a) { return a; }

template <class V>
VIVACE_INLINE V minimum(V a, V b) {
  return where(a < b, a, b);
}
template <class V>
VIVACE_INLINE V maximum(V a, V b) {
  return where(a > b, a, b);
}

/// Shifts by a constant below the width; of a signed vector the sign is shifted in.
template <int kCount, class V>
VIVACE_INLINE V shift_left(V a) {
  if constexpr (sizeof(Element<V>) == 4)
    return V(u32(a) << kCount);
  else
    return V(u64(a) << kCount);
}
template <int kCount, class V>
VIVACE_INLINE V shift_right(V a) {
  return a >> kCount;
}

/// x * 2^n in two factors, neither of which overflows where the result does not.
VIVACE_INLINE f32 scale_twice(f32 x, i32 n) {
  const i32 half = n >> 1;
  return x * bitcast<f32>((half + 127) << 23) * bitcast<f32>((n - half + 127) << 23);
}
VIVACE_INLINE f64 scale_twice(f64 x, i64 n) {
  const i64 half = n >> 1;
  return x * bitcast<f64>((half + 1023) << 52) * bitcast<f64>((n - half + 1023) << 52);
}

/// Whether b is a count of bits below the width.
template <class V>
VIVACE_INLINE auto is_shift(V b) {
  using T = Element<V>;
  return b >= T(0) && b < T(8 * sizeof(T));
}
template <class V>
VIVACE_INLINE V bitwise_left_shift(V a, V b) {
  using T = Element<V>;
  constexpr T kLast = T(8 * sizeof(T) - 1);
  return is_shift(b) ? V(bits(a) << bits(b & kLast)) : V{};
}
template <class V>
VIVACE_INLINE V bitwise_right_shift(V a, V b) {
  using T = Element<V>;
  constexpr T kLast = T(8 * sizeof(T) - 1);
  return a >> (is_shift(b) ? b & kLast : V{} + kLast);
}

}  // namespace

/// Set by a loop that divided an integer by zero; the driver raises for it.
extern int integer_division_by_zero;

namespace {

// ---- short runs of bytes

// GCC 12 warns of moves that n never leads to.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
/// Copies 0 < n <= 64 bytes by moves of fixed width that may overlap.
VIVACE_INLINE void copy_short(void* to, const void* from, int64_t n) {
  char* d = static_cast<char*>(to);
  const char* s = static_cast<const char*>(from);
  while (n > 16) {
    __builtin_memcpy(d, s, 16);
    d += 16, s += 16, n -= 16;
  }
  if (n >= 8) {
    uint64_t lo, hi;
    __builtin_memcpy(&lo, s, 8);
    __builtin_memcpy(&hi, s + n - 8, 8);
    __builtin_memcpy(d, &lo, 8);
    __builtin_memcpy(d + n - 8, &hi, 8);
  } else if (n >= 4) {
    uint32_t lo, hi;
    __builtin_memcpy(&lo, s, 4);
    __builtin_memcpy(&hi, s + n - 4, 4);
    __builtin_memcpy(d, &lo, 4);
    __builtin_memcpy(d + n - 4, &hi, 4);
  } else {
    const char first = s[0], middle = s[n / 2], last = s[n - 1];
    d[0] = first, d[n / 2] = middle, d[n - 1] = last;
  }
}
#pragma GCC diagnostic pop

template <class V>
VIVACE_INLINE V load_full(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
VIVACE_INLINE void store_full(void* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class V>
VIVACE_INLINE V load_bytes(const void* p, int64_t nbytes) {
  V v{};
  if (nbytes > 0) copy_short(&v, p, nbytes);
  return v;
}
template <class V>
VIVACE_INLINE void store_bytes(void* p, V v, int64_t nbytes) {
  if (nbytes > 0) copy_short(p, &v, nbytes);
}
/// The first `left` elements, fewer than a vector holds; x86.h has better ways for some types.
template <class T>
VIVACE_INLINE Vec<T> load_part(const T* p, int64_t left) {
  return load_bytes<Vec<T>>(p, left * int64_t(sizeof(T)));
}
template <class T>
VIVACE_INLINE void store_part(T* p, Vec<T> v, int64_t left) {
  store_bytes(p, v, left * int64_t(sizeof(T)));
}

}  // namespace
}  // namespace vivace

#ifdef __x86_64__
#include "runtime/simd/x86.h"
#else
#include "runtime/simd/neon.h"
#endif
#include "runtime/simd/memory.h"
