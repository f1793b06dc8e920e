// The loops of move_loops.h for one instruction set.
#include "runtime/kernels/move_loops.h"

#include "runtime/kernels/isa/exchange.h"
#include "runtime/simd/vec.h"

namespace vivace {
namespace {

static inline uint32_t word(float x) { return __builtin_bit_cast(uint32_t, x); }
static inline float number(uint32_t b) { return __builtin_bit_cast(float, b); }

// Both results are computed and one is chosen, without branches, so that the compiler makes vectors of the loops.

void to_half(char* to, const char* from, int64_t n) {
  uint16_t* __restrict out = reinterpret_cast<uint16_t*>(to);
  const float* __restrict in = reinterpret_cast<const float*>(from);
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i x = _mm512_loadu_si512(in + i), sign = _mm512_and_si512(x, _mm512_set1_epi32(int(0x80000000u)));
    // Every NaN becomes the same, as below.
    const __mmask16 nan = _mm512_cmp_ps_mask(__m512(x), __m512(x), _CMP_UNORD_Q);
    const __m512i y = _mm512_mask_or_epi32(x, nan, sign, _mm512_set1_epi32(0x7fc00000));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm512_cvtps_ph(__m512(y), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#elif defined(__F16C__)
  for (; i + 16 <= n; i += 16) {
    __m256i half[2];
    for (int k = 0; k < 2; ++k) {
      const __m256 x = _mm256_loadu_ps(in + i + 8 * k);
      // Every NaN becomes the same, as below.
      const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0f)),
                   nan = _mm256_or_ps(sign, _mm256_set1_ps(__builtin_nanf("")));
      const __m256 y = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
      half[k] = _mm256_castsi128_si256(_mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permute2x128_si256(half[0], half[1], 0x20));
  }
#endif
  for (; i < n; ++i) {
    const uint32_t b = word(in[i]), sign = (b >> 16) & 0x8000u, size = b & 0x7fffffffu;
    const uint32_t small = word(number(size) + 0.5f) - 0x3f000000u;  // aligned to half's subnormal grid by the addition
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
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#endif
  for (; i < n; ++i) {
    const uint32_t h = in[i], sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    const uint32_t special = 0x7f800000u | ((rest & 0x3ffu) << 13);
    const uint32_t finite =
        word(number(rest << 13) * number(uint32_t(239) << 23));  // times 2^112: rebases the exponent
    out[i] = number(sign | (rest >= 0x7c00u ? special : finite));
  }
}

void to_bfloat16(char* to, const char* from, int64_t n) {
  uint16_t* __restrict out = reinterpret_cast<uint16_t*>(to);
  const float* __restrict in = reinterpret_cast<const float*>(from);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t b = word(in[i]), rounded = (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
    out[i] = uint16_t((b & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
  }
}

void from_bfloat16(char* to, const char* from, int64_t n) {
  float* __restrict out = reinterpret_cast<float*>(to);
  const uint16_t* __restrict in = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; ++i) out[i] = number(uint32_t(in[i]) << 16);
}

/// As convert.h defines it: what does not fit gives the least integer.
template <class To, class From>
VIVACE_INLINE To converted(From x) {
  if constexpr (From(0.5) == 0 || To(0.5) != 0) {
    return To(x);
  } else {
    // Bytes and words of 16 bits go by way of 32, as everywhere.
    using Int = __typeof__(sizeof(To) < 4 ? int32_t() : To());
    constexpr From kLimit = sizeof(Int) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
    constexpr Int kLeast = Int(uint64_t(1) << (8 * sizeof(Int) - 1));
    return To(x >= -kLimit && x < kLimit ? Int(x) : kLeast);
  }
}
template <class To, class From>
void convert(char* to, const char* from, int64_t n) {
  To* __restrict out = reinterpret_cast<To*>(to);
  const From* __restrict in = reinterpret_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i) out[i] = converted<To>(in[i]);
}

/// The vector of so many copies of an element as fit.
template <class T>
VIVACE_INLINE u8 repeated(const char* element) {
  T word;
  __builtin_memcpy(&word, element, sizeof word);
  typedef T words __attribute__((vector_size(kVectorBytes)));
  return u8(words{} + word);
}
VIVACE_INLINE u8 repeated16(const char* element) {
  u8 pattern;
  for (int i = 0; i < kVectorBytes; i += 16) __builtin_memcpy(reinterpret_cast<char*>(&pattern) + i, element, 16);
  return pattern;
}

void fill(char* to, const char* element, int64_t size, int64_t nbytes) {
  const u8 pattern = size == 1   ? repeated<uint8_t>(element)
                     : size == 2 ? repeated<uint16_t>(element)
                     : size == 4 ? repeated<uint32_t>(element)
                     : size == 8 ? repeated<uint64_t>(element)
                                 : repeated16(element);
  int64_t i = 0;
  for (; i + kVectorBytes <= nbytes; i += kVectorBytes) store_full(to + i, pattern);
  if (i < nbytes) store_bytes(to + i, pattern, nbytes - i);
}

static_assert(kVectorBytes <= kSpreadSlack);
void spread(char* to, const char* elements, int64_t size, int64_t count, int64_t n) {
  const auto rows = [&](auto pattern) {
    for (int64_t r = 0; r < count; ++r, to += n * size) {  // the end of a row is written over by the next
      const u8 v = pattern(elements + r * size);
      for (int64_t i = 0; i < n * size; i += kVectorBytes) store_full(to + i, v);
    }
  };
  switch (size) {
    case 1:
      return rows([](const char* e) { return repeated<uint8_t>(e); });
    case 2:
      return rows([](const char* e) { return repeated<uint16_t>(e); });
    case 4:
      return rows([](const char* e) { return repeated<uint32_t>(e); });
    case 8:
      return rows([](const char* e) { return repeated<uint64_t>(e); });
    default:
      return rows([](const char* e) { return repeated16(e); });
  }
}

template <class T>
void reverse(char* to, const char* from, int64_t n) {
  Index<T> backwards{};
  for (int l = 0; l < lanes<T>; ++l) backwards[l] = lanes<T> - 1 - l;
  const T* last = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>)
    store(out + i, Vec<T>(__builtin_shuffle(load(last - i - lanes<T> + 1), backwards)));
  for (; i < n; ++i) out[i] = last[-i];
}

void reverse_bytes(char* to, const char* from, int64_t n) {
  constexpr int kN = kVectorBytes;
  u8 backwards{};
  for (int l = 0; l < kN; ++l) backwards[l] = uint8_t(kN - 1 - l);
  int64_t i = 0;
  for (; i + kN <= n; i += kN) {
    const u8 bytes = load_full<u8>(from - i - kN + 1);
#if defined(__AVX512F__) && !defined(__AVX512VBMI__)
    // Bytes move within 16; these are exchanged afterwards.
    const __m512i within = _mm512_shuffle_epi8(__m512i(bytes), __m512i(backwards & 15));
    store_full(to + i, u8(_mm512_shuffle_i64x2(within, within, 0x1b)));
#else
    store_full(to + i, u8(__builtin_shuffle(bytes, backwards)));
#endif
  }
  for (; i < n; ++i) to[i] = from[-i];
}

/// Rows of which one element after the other stands side by side in `to`.
template <class T>
void interleave(T* to, const char* from, int64_t from_step, int64_t rows, int64_t columns) {
  constexpr int kN = lanes<T>;
  Index<T> row[kN], column[kN];  // of the elements of `rows` vectors
  for (int64_t i = 0; i < rows * kN; ++i) {
    row[i / kN][i % kN] = i % rows;
    column[i / kN][i % kN] = i / rows;
  }
  const auto source = [&](int64_t r) { return reinterpret_cast<const T*>(from + r * from_step); };
  int64_t c = 0;
  for (; c + kN <= columns; c += kN) {
    Vec<T> block[kN];
    for (int64_t r = 0; r < rows; ++r) block[r] = load(source(r) + c);
    for (int64_t j = 0; j < rows; ++j) {
      Vec<T> mixed = __builtin_shuffle(block[0], column[j]);
      for (int64_t r = 1; r < rows && from_step; ++r)
        mixed = where(row[j] == T(r), __builtin_shuffle(block[r], column[j]), mixed);
      store(to + c * rows + j * kN, mixed);
    }
  }
  for (; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) to[c * rows + r] = source(r)[c];
}

template <class T>
void transpose(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t rows, int64_t columns) {
  constexpr int kN = lanes<T>;
  if (rows * columns < 8 * kN) {  // a block costs as much as this many single elements
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)  // pairs of halves need not be aligned
        __builtin_memcpy(to + c * to_step + r * int64_t(sizeof(T)), from + r * from_step + c * int64_t(sizeof(T)),
                         sizeof(T));
    return;
  }
  if (rows < kN / 2 && to_step == rows * int64_t(sizeof(T)))
    return interleave(reinterpret_cast<T*>(to), from, from_step, rows, columns);
  for (int64_t r = 0; r < rows; r += kN)
    for (int64_t c = 0; c < columns; c += kN) {
      const int64_t height = rows - r < kN ? rows - r : kN, width = columns - c < kN ? columns - c : kN;
      Vec<T> block[kN] = {};
      const char* source = from + r * from_step + c * int64_t(sizeof(T));
      char* target = to + c * to_step + r * int64_t(sizeof(T));
      if (height == kN && width == kN) {
#pragma GCC unroll 16
        for (int i = 0; i < kN; ++i) block[i] = load(reinterpret_cast<const T*>(source + i * from_step));
        exchange<T>(block);
#pragma GCC unroll 16
        for (int i = 0; i < kN; ++i) store(reinterpret_cast<T*>(target + i * to_step), block[i]);
      } else {
        for (int i = 0; i < height; ++i) block[i] = load(reinterpret_cast<const T*>(source + i * from_step), width);
        exchange<T>(block);
        for (int i = 0; i < width; ++i) store(reinterpret_cast<T*>(target + i * to_step), block[i], height);
      }
    }
}

bool all_below(const int64_t* index, int64_t n, int64_t size) {
  int64_t signs = 0;  // negative if an index, or its distance from the last place, is
  for (int64_t i = 0; i < n; ++i) signs |= index[i] | int64_t(uint64_t(size - 1) - uint64_t(index[i]));
  return signs >= 0;
}

}  // namespace

namespace VIVACE_ISA {
extern const MoveLoops move_loops;
const MoveLoops move_loops = {
    to_half,
    from_half,
    to_bfloat16,
    from_bfloat16,
    {{nullptr, convert<float, double>, convert<float, int32_t>, convert<float, int64_t>, convert<float, uint8_t>},
     {convert<double, float>, nullptr, convert<double, int32_t>, convert<double, int64_t>, convert<double, uint8_t>},
     {convert<int32_t, float>, convert<int32_t, double>, nullptr, convert<int32_t, int64_t>, convert<int32_t, uint8_t>},
     {convert<int64_t, float>, convert<int64_t, double>, convert<int64_t, int32_t>, nullptr, convert<int64_t, uint8_t>},
     {convert<uint8_t, float>, convert<uint8_t, double>, convert<uint8_t, int32_t>, convert<uint8_t, int64_t>,
      nullptr}},
    {convert<bool, float>, convert<bool, double>, convert<bool, int32_t>, convert<bool, int64_t>,
     convert<bool, uint8_t>},
    fill,
    spread,
    reverse_bytes,
    reverse<int32_t>,
    reverse<int64_t>,
    all_below,
    transpose<int32_t>,
    transpose<int64_t>,
};
}  // namespace VIVACE_ISA

}  // namespace vivace
