// Elements of two bytes. Arithmetic on them is float's.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace c10 {

/// IEEE half precision.
struct alignas(2) Half {
  uint16_t x = 0;
  Half() = default;
  Half(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      x = uint16_t(sign | 0x7e00u);
    } else if (magnitude >= 0x477ff000u) {
      x = uint16_t(sign | 0x7c00u);
    } else if (magnitude < 0x38800000u) {  // adding 0.5 rounds to the grid of the subnormals
      const float shifted = std::fabs(value) + 0.5f;
      std::memcpy(&bits, &shifted, 4);
      x = uint16_t(sign | (bits - 0x3f000000u));
    } else {
      x = uint16_t(sign | ((magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13));
    }
  }
  operator float() const {
    const float magnitude = (x & 0x7fffu) >= 0x7c00u ? ((x & 0x3ffu) ? NAN : INFINITY)
                            : (x & 0x7c00u)          ? std::ldexp(float(0x400u | (x & 0x3ffu)), (x >> 10 & 0x1f) - 25)
                                                     : std::ldexp(float(x & 0x3ffu), -24);
    return x & 0x8000u ? -magnitude : magnitude;
  }
  Half& operator+=(float other) { return *this = Half(float(*this) + other); }
  Half& operator-=(float other) { return *this = Half(float(*this) - other); }
  Half& operator*=(float other) { return *this = Half(float(*this) * other); }
  Half& operator/=(float other) { return *this = Half(float(*this) / other); }
};

/// The upper half of a float.
struct alignas(2) BFloat16 {
  uint16_t x = 0;
  BFloat16() = default;
  BFloat16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    x = std::isnan(value) ? uint16_t(0x7fc0) : uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  }
  operator float() const {
    const uint32_t bits = uint32_t(x) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  BFloat16& operator+=(float other) { return *this = BFloat16(float(*this) + other); }
  BFloat16& operator-=(float other) { return *this = BFloat16(float(*this) - other); }
  BFloat16& operator*=(float other) { return *this = BFloat16(float(*this) * other); }
  BFloat16& operator/=(float other) { return *this = BFloat16(float(*this) / other); }
};

}  // namespace c10

namespace vivace {

/// What std::numeric_limits says of a type of two bytes, by the bits of its values.
template <class T, int precision, int exponent, uint16_t one_ulp, uint16_t smallest, uint16_t largest, uint16_t inf>
struct HalfLimits : std::numeric_limits<float> {
  static constexpr int digits = precision, max_exponent = exponent, min_exponent = 3 - exponent;
  static constexpr int digits10 = (precision - 1) * 3 / 10, max_digits10 = precision * 3 / 10 + 2;
  static T of_bits(uint16_t bits) {
    T value;
    value.x = bits;
    return value;
  }
  static T min() { return of_bits(smallest); }
  static T max() { return of_bits(largest); }
  static T lowest() { return of_bits(largest | 0x8000); }
  static T epsilon() { return of_bits(one_ulp); }
  static T infinity() { return of_bits(inf); }
  static T quiet_NaN() { return of_bits(inf | 0x40); }
  static T denorm_min() { return of_bits(1); }
};

}  // namespace vivace

template <>
struct std::numeric_limits<c10::Half> : vivace::HalfLimits<c10::Half, 11, 16, 0x1400, 0x0400, 0x7bff, 0x7c00> {};
template <>
struct std::numeric_limits<c10::BFloat16> : vivace::HalfLimits<c10::BFloat16, 8, 128, 0x3c00, 0x0080, 0x7f7f, 0x7f80> {
};
