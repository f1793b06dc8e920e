// How loops read and write: the next vector of an array, or the lanes that are left of it; bool bytes as masks; complex
// numbers as two vectors. Included by vec.h only.
#pragma once

namespace vivace {
namespace {

/// p[0 .. min(left, lanes)); the other lanes are 0. left > 0.
template <class T>
VIVACE_INLINE Vec<T> load(const T* p, int64_t left) {
  if (left >= lanes<T>) [[likely]]
    return load_full<Vec<T>>(p);
  return load_part(p, left);
}
template <class T>
VIVACE_INLINE Vec<T> load(const T* p) {
  return load_full<Vec<T>>(p);
}
template <class T>
VIVACE_INLINE void store(T* p, Vec<T> v, int64_t left) {
  if (left >= lanes<T>) [[likely]]
    store_full(p, v);
  else
    store_part(p, v, left);
}
template <class T>
VIVACE_INLINE void store(T* p, Vec<T> v) {
  store_full(p, v);
}

/// p[at] of each lane, 0 where `at` is negative.
#if defined(__AVX512F__)
VIVACE_INLINE f32 gather(const float* p, i32 at) {
  return f32(_mm512_mask_i32gather_ps(__m512{}, _mm512_movepi32_mask(__m512i(~at)), __m512i(at), p, 4));
}
VIVACE_INLINE f64 gather(const double* p, i64 at) {
  return f64(_mm512_mask_i64gather_pd(__m512d{}, _mm512_movepi64_mask(__m512i(~at)), __m512i(at), p, 8));
}
#elif defined(__AVX2__)
VIVACE_INLINE f32 gather(const float* p, i32 at) {
  return f32(_mm256_mask_i32gather_ps(__m256{}, p, __m256i(at), __m256(~at), 4));
}
VIVACE_INLINE f64 gather(const double* p, i64 at) {
  return f64(_mm256_mask_i64gather_pd(__m256d{}, p, __m256i(at), __m256d(~at), 8));
}
#else
template <class T>
VIVACE_INLINE Vec<T> gather(const T* p, Index<T> at) {
  Vec<T> v{};
  for (int l = 0; l < lanes<T>; ++l)
    if (at[l] >= 0) v[l] = p[at[l]];
  return v;
}
#endif

// One byte for each lane of a vector of 4 or 8 byte lanes.
typedef uint8_t b32 __attribute__((vector_size(kVectorBytes / 4)));
typedef uint8_t b64 __attribute__((vector_size(kVectorBytes / 8)));
typedef int8_t s32 __attribute__((vector_size(kVectorBytes / 4)));
typedef int8_t s64 __attribute__((vector_size(kVectorBytes / 8)));

VIVACE_INLINE m8 load_mask8(const uint8_t* p, int64_t left) { return load(p, left) != 0; }
VIVACE_INLINE m32 load_mask32(const uint8_t* p, int64_t left) {
  const b32 v = left >= lanes<float> ? load_full<b32>(p) : load_bytes<b32>(p, left);
  return __builtin_convertvector(v, i32) != 0;
}
VIVACE_INLINE m64 load_mask64(const uint8_t* p, int64_t left) {
  const b64 v = left >= lanes<double> ? load_full<b64>(p) : load_bytes<b64>(p, left);
  return __builtin_convertvector(v, i64) != 0;
}
VIVACE_INLINE void store_mask(uint8_t* p, m8 m, int64_t left) { store(p, u8(m) & 1, left); }
VIVACE_INLINE void store_mask(uint8_t* p, m32 m, int64_t left) {
  const b32 v = b32(__builtin_convertvector(m, s32)) & 1;
  if (left >= lanes<float>) [[likely]]
    store_full(p, v);
  else
    store_bytes(p, v, left);
}
VIVACE_INLINE void store_mask(uint8_t* p, m64 m, int64_t left) {
  const b64 v = b64(__builtin_convertvector(m, s64)) & 1;
  if (left >= lanes<double>) [[likely]]
    store_full(p, v);
  else
    store_bytes(p, v, left);
}

// Interleaved (re, im) pairs as two vectors.
template <class T>
VIVACE_INLINE void load_pairs(const T* p, int64_t left, Vec<T>& re, Vec<T>& im) {
  constexpr int kN = lanes<T>;
  const Vec<T> lo = load(p, 2 * left), hi = 2 * left > kN ? load(p + kN, 2 * left - kN) : Vec<T>{};
  Index<T> even{}, odd{};
  for (int l = 0; l < kN; ++l) even[l] = 2 * l, odd[l] = 2 * l + 1;
  re = __builtin_shuffle(lo, hi, even);
  im = __builtin_shuffle(lo, hi, odd);
}
template <class T>
VIVACE_INLINE void store_pairs(T* p, Vec<T> re, Vec<T> im, int64_t left) {
  constexpr int kN = lanes<T>;
  Index<T> low{}, high{};
  for (int l = 0; l < kN; ++l) low[l] = l / 2 + l % 2 * kN, high[l] = low[l] + kN / 2;
  store(p, Vec<T>(__builtin_shuffle(re, im, low)), 2 * left);
  if (2 * left > kN) store(p + kN, Vec<T>(__builtin_shuffle(re, im, high)), 2 * left - kN);
}

/// f of each lane, for functions that loop on their data.
template <class V, class F, class... Rest>
VIVACE_INLINE V each(F f, V a, Rest... rest) {
  V r{};
  for (int l = 0; l < lanes<Element<V>>; ++l) r[l] = f(a[l], rest[l]...);
  return r;
}
/// `otherwise`, but f(args...) in the lanes of m, which is seldom any.
template <class M, class V, class F, class... Args>
[[gnu::noinline, gnu::cold]] static V patch(M m, V otherwise, F f, Args... args) {
  for (int l = 0; l < lanes<Element<V>>; ++l)
    if (m[l]) otherwise[l] = f(args[l]...);
  return otherwise;
}
template <class M, class V, class F, class... Args>
VIVACE_INLINE V rare(M m, V otherwise, F f, Args... args) {
  if (any(m)) [[unlikely]]
    return patch(m, otherwise, f, args...);
  return otherwise;
}

/// The exact remainder of a / b towards zero. The quotient is off by one at most where it has few bits, which the sign
/// of the rest tells.
template <class V>
VIVACE_INLINE V fmod(V a, V b) {
  using T = Element<V>;
  const auto one = [](T x, T y) { return scalar::fmod(x, y); };
  if constexpr (!kHasFma) return each(one, a, b);
  const V quotient = trunc(a / b);
  V rest = fma(-quotient, b, a);
  rest = where(where(a < 0, rest > 0, rest < 0), rest + with_sign(abs(b), a), rest);
  const T few = sizeof(T) == 4 ? T(0x1p22) : T(0x1p50);
  const auto is_near = (abs(quotient) < few) & (abs(b) < T(__builtin_inf()));
  return rare(!is_near, with_sign(abs(rest), a), one, a, b);
}

/// Whether integers are divided as doubles, which is exact below 2^51 (a quotient just below a whole number is never
/// rounded up to it) and has vector instructions.
template <class V>
inline constexpr bool kDividesInDouble = sizeof(Element<V>) == 8 && Element<V>(-1) < Element<V>(0);
VIVACE_INLINE m64 divides_in_double(i64 a, i64 b) {
  constexpr int64_t kLimit = int64_t(1) << 51;
  return (a > -kLimit) & (a < kLimit) & (b > -kLimit) & (b < kLimit) & (b != 0);
}
VIVACE_INLINE i64 quotient_in_double(i64 a, i64 b) {
  const f64 magic = splat(0x1.8p52);  // its last bits count units
  const auto floating = [&](i64 x) { return bitcast<f64>(x + bitcast<i64>(magic)) - magic; };
  return to_integer(trunc(floating(a) / floating(b)));
}

/// Division towards zero of the first `left` lanes. INT_MIN / -1 wraps; x / 0 is 0 and leaves a note.
template <class V>
VIVACE_INLINE V idiv(V a, V b, int64_t left) {
  using T = Element<V>;
  V r{};
  if constexpr (kDividesInDouble<V>)
    if (!any(~divides_in_double(a, b))) [[likely]]
      return quotient_in_double(a, b);
  for (int l = 0; l < lanes<T> && l < left; ++l) {
    if (b[l] == 0) [[unlikely]]
      integer_division_by_zero = 1;
    else
      r[l] = T(-1) < T(0) && b[l] == T(-1) ? T(-uint64_t(a[l])) : T(a[l] / b[l]);
  }
  return r;
}
/// The remainder of idiv, with the sign of a.
template <class V>
VIVACE_INLINE V irem(V a, V b, int64_t left) {
  using T = Element<V>;
  V r{};
  if constexpr (kDividesInDouble<V>)
    if (!any(~divides_in_double(a, b))) [[likely]]
      return sub(a, mul(quotient_in_double(a, b), b));
  for (int l = 0; l < lanes<T> && l < left; ++l) {
    if (b[l] == 0) [[unlikely]]
      integer_division_by_zero = 1;
    else
      r[l] = T(-1) < T(0) && b[l] == T(-1) ? T(0) : T(a[l] % b[l]);
  }
  return r;
}

/// f on both halves as f64 vectors, rounded back.
template <class F, class... V>
VIVACE_INLINE f32 in_double(F f, V... x) {
  typedef float half __attribute__((vector_size(kVectorBytes / 2)));
  struct Halves {
    half low, high;
  };
  const half low = __builtin_convertvector(f(__builtin_convertvector(__builtin_bit_cast(Halves, x).low, f64)...), half);
  const half high =
      __builtin_convertvector(f(__builtin_convertvector(__builtin_bit_cast(Halves, x).high, f64)...), half);
  return __builtin_bit_cast(f32, Halves{low, high});
}

}  // namespace
}  // namespace vivace
