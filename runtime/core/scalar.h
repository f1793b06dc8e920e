// A Python number as an argument: bool, int, float or complex, and no tensor made for it.
#pragma once
#include <cstdint>

#include "runtime/core/dtype.h"

namespace vivace {

/// What a Value holds; the first five may be a Scalar.
enum class Tag : uint8_t {
  None,
  Bool,
  Int,
  Float,
  Complex,
  Tensor,
  IntList,
  FloatList,
  ScalarList,
  TensorList,
  DType,
  Device,
  Layout,
  MemoryFormat,
  String,
  Object,
};

/// Integers from 2^63 to 2^64 - 1 stand in `i` less 2^64, which stands in `imag`.
struct Scalar {
  union {
    int64_t i;  // Bool, Int
    double f;   // Float; real part of Complex
  };
  double imag = 0;  // of Complex; see imag_part
  Tag tag;

  Scalar() : i(0), tag(Tag::None) {}
  Scalar(bool x) : i(x), tag(Tag::Bool) {}
  Scalar(int x) : i(x), tag(Tag::Int) {}
  Scalar(int64_t x) : i(x), tag(Tag::Int) {}
  explicit Scalar(uint64_t x) : i(int64_t(x)), imag(int64_t(x) < 0 ? 0x1p64 : 0), tag(Tag::Int) {}
  Scalar(double x) : f(x), tag(Tag::Float) {}
  Scalar(double re, double im) : f(re), imag(im), tag(Tag::Complex) {}

  bool is_none() const { return tag == Tag::None; }
  bool is_floating() const { return tag == Tag::Float; }
  bool is_complex() const { return tag == Tag::Complex; }
  bool is_bool() const { return tag == Tag::Bool; }
  /// bool counts as an integer here.
  bool is_integral() const { return tag == Tag::Int || tag == Tag::Bool; }
  /// An integer that int64 does not hold.
  bool is_above_int64() const { return tag == Tag::Int && imag != 0; }
  double to_double() const { return !is_integral() ? f : imag != 0 ? double(uint64_t(i)) : double(i); }
  double imag_part() const { return is_complex() ? imag : 0; }
  /// Modulo 2^64 for what is above int64.
  int64_t to_int() const { return is_integral() ? i : int64_t(f); }
  bool to_bool() const { return is_integral() ? i != 0 : (f != 0 || imag != 0); }
  bool operator==(double x) const { return to_double() == x && imag_part() == 0; }
};

}  // namespace vivace
