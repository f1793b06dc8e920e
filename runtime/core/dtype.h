// Element types: sizes, classes, limits of promotion. `visit` is the one place that maps a DType to a C++ type.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace vivace {

/// IEEE half precision, as bits; arithmetic happens in float.
struct Half {
  uint16_t bits;
};
/// The upper half of a float, as bits; arithmetic happens in float.
struct BFloat16 {
  uint16_t bits;
};
/// A complex number with the layout of std::complex<T>, without its library calls.
template <class T>
struct Complex {
  using value_type = T;
  T re, im;
};

enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};
inline constexpr int kNumDTypes = 15;
inline constexpr uint8_t kItemSize[kNumDTypes] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
inline constexpr const char* kDTypeName[kNumDTypes] = {"bool",     "uint8",   "int8",    "int16",     "uint16",
                                                       "int32",    "uint32",  "int64",   "uint64",    "float16",
                                                       "bfloat16", "float32", "float64", "complex64", "complex128"};
inline constexpr const char* kScalarTypeName[kNumDTypes] = {
    "Bool",   "Byte", "Char",     "Short", "UInt16", "Int",          "UInt32",       "Long",
    "UInt64", "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};

inline constexpr size_t item_size(DType t) { return kItemSize[int(t)]; }
inline constexpr const char* name(DType t) { return kDTypeName[int(t)]; }
/// PyTorch's older name, as in some messages and in torch.FloatTensor: "Float".
inline constexpr const char* scalar_type_name(DType t) { return kScalarTypeName[int(t)]; }
inline constexpr bool is_bool(DType t) { return t == DType::Bool; }
inline constexpr bool is_complex(DType t) { return t >= DType::Complex64; }
inline constexpr bool is_floating(DType t) { return t >= DType::Float16 && t <= DType::Float64; }
inline constexpr bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }
/// Integers without bool.
inline constexpr bool is_integral(DType t) { return t >= DType::UInt8 && t <= DType::UInt64; }
inline constexpr bool is_signed(DType t) {
  return t == DType::Int8 || t == DType::Int16 || t == DType::Int32 || t == DType::Int64 || t >= DType::Float16;
}
/// Only these may require grad.
inline constexpr bool is_differentiable(DType t) { return t >= DType::Float16; }
/// complex64 -> float32 and so on; others stay.
inline constexpr DType real_of(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
/// float32 -> complex64, float64 -> complex128, halves -> complex64.
inline constexpr DType complex_of(DType t) {
  return is_complex(t) ? t : t == DType::Float64 ? DType::Complex128 : DType::Complex64;
}
/// The type that sums and formulas of t are computed in: float32 for the half types, else t.
inline constexpr DType compute_of(DType t) { return is_half(t) ? DType::Float32 : t; }

inline float to_float(BFloat16 x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }
inline BFloat16 to_bfloat16(float x) {
  uint32_t b = std::bit_cast<uint32_t>(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return {0x7fc0};
  return {uint16_t((b + 0x7fffu + ((b >> 16) & 1)) >> 16)};
}
inline float to_float(Half h) {
  const uint32_t sign = uint32_t(h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
  // Multiplying by 2^112 rebases the exponent and normalises subnormals at once.
  const float magnitude = std::bit_cast<float>(rest << 13) * std::bit_cast<float>(uint32_t(239) << 23);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}
inline Half to_half(float x) {
  const uint32_t b = std::bit_cast<uint32_t>(x), sign = (b >> 16) & 0x8000u, mag = b & 0x7fffffffu;
  if (mag > 0x7f800000u) return {uint16_t(sign | 0x7e00u)};
  if (mag >= 0x477ff000u) return {uint16_t(sign | 0x7c00u)};
  if (mag < 0x38800000u) {
    // Adding 0.5 aligns the binary point so that the hardware rounds to half's subnormal grid.
    const float shifted = std::bit_cast<float>(mag) + 0.5f;
    return {uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  return {uint16_t(sign | ((mag + 0xc8000fffu + ((mag >> 13) & 1)) >> 13))};
}

/// Names the C++ type of an element for a generic lambda: `visit(t, [&]<class T>() { ... })`.
template <class F>
decltype(auto) visit(DType t, F&& f) {
  switch (t) {
    case DType::Bool:
      return f.template operator()<bool>();
    case DType::UInt8:
      return f.template operator()<uint8_t>();
    case DType::Int8:
      return f.template operator()<int8_t>();
    case DType::Int16:
      return f.template operator()<int16_t>();
    case DType::UInt16:
      return f.template operator()<uint16_t>();
    case DType::Int32:
      return f.template operator()<int32_t>();
    case DType::UInt32:
      return f.template operator()<uint32_t>();
    case DType::Int64:
      return f.template operator()<int64_t>();
    case DType::UInt64:
      return f.template operator()<uint64_t>();
    case DType::Float16:
      return f.template operator()<Half>();
    case DType::BFloat16:
      return f.template operator()<BFloat16>();
    case DType::Float32:
      return f.template operator()<float>();
    case DType::Float64:
      return f.template operator()<double>();
    case DType::Complex64:
      return f.template operator()<Complex<float>>();
    case DType::Complex128:
      break;
  }
  return f.template operator()<Complex<double>>();
}

/// Names an unsigned type of the element's width, for code that only moves elements (2 x uint64 for complex128).
struct Bits128 {
  uint64_t lo, hi;
};
template <class F>
decltype(auto) visit_bits(DType t, F&& f) {
  switch (item_size(t)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
  }
  return f.template operator()<Bits128>();
}

}  // namespace vivace
