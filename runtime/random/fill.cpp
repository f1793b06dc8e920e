// Uniform and normal blocks. Loops have no branches so that the compiler makes vectors of them.
#include "runtime/random/fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace vivace::random {

namespace {

constexpr int kChunk = 512;

/// round(x * range + base) to float, rounded once: exact products, and sums that double could round to a tie are
/// redone.
void scale(float* x, int64_t n, float range, float base) {
  double wide[kChunk];
  uint64_t ties = 0;
  for (int64_t i = 0; i < n; ++i) {
    wide[i] = double(x[i]) * double(range) + double(base);
    ties |= (std::bit_cast<uint64_t>(wide[i]) & 0x1fffffff) == 0x10000000;
  }
  if (ties) {
    for (int64_t i = 0; i < n; ++i) x[i] = std::fma(x[i], range, base);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = float(wide[i]);
  }
}

/// Natural logarithm of a positive normal float, to about 1 ULP.
inline float log_positive(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  // Takes the exponent so that the rest lies in [sqrt(1/2), sqrt(2)).
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float f = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  float p = -0.07859457f;
  p = p * f + 0.12881588f;
  p = p * f - 0.13128785f;
  p = p * f + 0.14181202f;
  p = p * f - 0.16624552f;
  p = p * f + 0.20002286f;
  p = p * f - 0.2500081f;
  p = p * f + 0.33333317f;
  const float e = float(exponent);
  const float low = (p * f - 0.5f) * (f * f) + e * -2.12194440e-4f;  // ln 2 in two parts
  return f + low + e * 0.693359375f;
}

/// Sine and cosine for 0 <= x <= 2 pi, to about 1 ULP of 1.
inline void sin_cos(float x, float& sine, float& cosine) {
  const int32_t quadrant = int32_t(x * float(2 / std::numbers::pi) + 0.5f);
  const float q = float(quadrant);
  const float r = ((x - q * 1.5703125f) - q * 4.83751297e-4f) - q * 7.54978995e-8f;  // pi / 2 in three parts
  const float z = r * r;
  const float s = r + r * z * ((-1.9517e-4f * z + 8.33218e-3f) * z - 0.16666655f);
  const float c = 1.0f - 0.5f * z + z * z * ((2.44384e-5f * z - 1.38873675e-3f) * z + 4.166664690e-2f);
  const bool odd = quadrant & 1;
  const float sin_magnitude = odd ? c : s, cos_magnitude = odd ? s : c;
  const uint32_t sin_sign = uint32_t(quadrant & 2) << 30, cos_sign = uint32_t((quadrant + 1) & 2) << 30;
  sine = std::bit_cast<float>(std::bit_cast<uint32_t>(sin_magnitude) ^ sin_sign);
  cosine = std::bit_cast<float>(std::bit_cast<uint32_t>(cos_magnitude) ^ cos_sign);
}

inline double log_positive(double x) { return std::log(x); }
inline void sin_cos(double x, double& sine, double& cosine) {
  sine = std::sin(x);
  cosine = std::cos(x);
}

/// Box-Muller on 16 uniforms in place: element j and j + 8 become one pair.
template <class T>
void normal_block(T* block, T mean, T std) {
  T first[8], second[8];
  for (int j = 0; j < 8; ++j) {
    const T radius = std::sqrt(T(-2) * log_positive(T(1) - block[j]));
    T sine, cosine;
    sin_cos(T(2 * std::numbers::pi) * block[j + 8], sine, cosine);
    first[j] = radius * cosine * std + mean;
    second[j] = radius * sine * std + mean;
  }
  std::copy(first, first + 8, block);
  std::copy(second, second + 8, block + 8);
}

template <class T>
void normal_blocks(RandomStream& stream, T* out, int64_t n, T mean, T std) {
  uniform(stream, out, n, 0, 1);
  for (int64_t i = 0; i + kNormalBlock <= n; i += kNormalBlock) normal_block(out + i, mean, std);
  if (n % kNormalBlock != 0) {
    T* tail = out + n - kNormalBlock;
    uniform(stream, tail, kNormalBlock, 0, 1);
    normal_block(tail, mean, std);
  }
}

}  // namespace

void uniform(RandomStream& stream, float* out, int64_t n, double from, double to) {
  const float base = float(from), end = float(to), range = end - base;
  uint32_t bits[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = std::min<int64_t>(kChunk, n - start);
    float* target = out + start;
    stream.fill(bits, count);
    for (int64_t i = 0; i < count; ++i) target[i] = float(int32_t(bits[i] & 0xffffff)) * 0x1p-24f;
    if (base == 0 && range == 1) continue;
    scale(target, count, range, base);
    for (int64_t i = 0; i < count; ++i) target[i] = target[i] == end ? base : target[i];
  }
}

void uniform(RandomStream& stream, double* out, int64_t n, double from, double to) {
  const double range = to - from;
  for (int64_t i = 0; i < n; ++i) {
    const double x = std::fma(stream.uniform_double(), range, from);
    out[i] = x == to ? from : x;
  }
}

void hits(RandomStream& stream, uint8_t* out, int64_t n, double p) {
  // A uniform double k / 2^53 is below p where the integer k is below p * 2^53.
  const auto limit = uint64_t(std::ceil(p * 0x1p53));
  uint32_t bits[kChunk];
  for (int64_t start = 0; start < n; start += kChunk / 2) {
    const int64_t count = std::min<int64_t>(kChunk / 2, n - start);
    stream.fill(bits, 2 * count);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t draw = (uint64_t(bits[2 * i]) << 32 | bits[2 * i + 1]) & ((uint64_t(1) << 53) - 1);
      out[start + i] = draw < limit;
    }
  }
}

void normal(RandomStream& stream, float* out, int64_t n, double mean, double std) {
  normal_blocks(stream, out, n, float(mean), float(std));
}

void normal(RandomStream& stream, double* out, int64_t n, double mean, double std) {
  normal_blocks(stream, out, n, mean, std);
}

}  // namespace vivace::random
