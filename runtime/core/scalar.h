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

struct Scalar {
  union {
    int64_t i;  // Bool, Int
    double f;   // Float; real part of Complex
  };
  double imag = 0;
  Tag tag;

  Scalar() : i(0), tag(Tag::None) {}
  Scalar(bool x) : i(x), tag(Tag::Bool) {}
  Scalar(int x) : i(x), tag(Tag::Int) {}
  Scalar(int64_t x) : i(x), tag(Tag::Int) {}
  Scalar(double x) : f(x), tag(Tag::Float) {}
  Scalar(double re, double im) : f(re), imag(im), tag(Tag::Complex) {}

  bool is_none() const { return tag == Tag::None; }
  bool is_floating() const { return tag == Tag::Float; }
  bool is_complex() const { return tag == Tag::Complex; }
  bool is_bool() const { return tag == Tag::Bool; }
  /// bool counts as an integer here.
  bool is_integral() const { return tag == Tag::Int || tag == Tag::Bool; }
  double to_double() const { return is_integral() ? double(i) : f; }
  int64_t to_int() const { return is_integral() ? i : int64_t(f); }
  bool to_bool() const { return is_integral() ? i != 0 : (f != 0 || imag != 0); }
  bool operator==(double x) const { return to_double() == x && imag == 0; }
};

}  // namespace vivace
