// Fills the elements of a tensor in the order of memory, which is the order in which PyTorch hands out random numbers.
#pragma once
#include "runtime/core/overlap.h"

namespace vivace::random {

/// Calls `fill(dense)` with self, or, if self has gaps, with a tensor that is laid out in the same order and then
/// copied.
template <class F>
void fill_in_order(Tensor& self, F fill) {
  if (self.is_non_overlapping_and_dense()) return fill(self);
  check_no_internal_overlap(self);
  const TensorRef dense = empty_like(self);
  fill(*dense);
  copy_into(self, *dense);
}

/// Elements of a real tensor; parts of a complex one.
inline int64_t count_reals(const Tensor& t) { return t.numel() * (is_complex(t.dtype()) ? 2 : 1); }

/// Stores `draw()`, which gives a T, into each element (each part of a complex one); reals are of type T.
template <class T, class Draw>
void fill_each(Tensor& self, Draw draw) {
  fill_in_order(self, [&](Tensor& dense) {
    T* out = dense.data<T>();
    const int64_t n = count_reals(dense);
    for (int64_t i = 0; i < n; ++i) out[i] = draw();
  });
}

/// The largest integer up to which the type holds all integers.
inline uint64_t last_exact(DType t) {
  switch (t) {
    case DType::Bool:
      return 1;
    case DType::UInt8:
      return 0xff;
    case DType::Int8:
      return 0x7f;
    case DType::Int16:
      return 0x7fff;
    case DType::UInt16:
      return 0xffff;
    case DType::Int32:
      return 0x7fffffff;
    case DType::UInt32:
      return 0xffffffff;
    case DType::Int64:
      return uint64_t(-1) >> 1;
    case DType::Float16:
      return uint64_t(1) << 11;
    case DType::BFloat16:
      return uint64_t(1) << 8;
    case DType::Float32:
      return uint64_t(1) << 24;
    case DType::Float64:
      return uint64_t(1) << 53;
    default:
      return uint64_t(-1);
  }
}

/// Converts as a C++ cast does; half types round by way of float.
template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(float(x));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(float(x));
  } else {
    return T(x);
  }
}

/// Names the C++ type of a floating element.
template <class F>
void visit_floating(DType t, F&& f) {
  switch (t) {
    case DType::Float16:
      return f.template operator()<Half>();
    case DType::BFloat16:
      return f.template operator()<BFloat16>();
    case DType::Float64:
      return f.template operator()<double>();
    default:
      return f.template operator()<float>();
  }
}

/// Names the C++ type of a real element.
template <class F>
void visit_real(DType t, F&& f) {
  visit(t, [&]<class T>() {
    if constexpr (!requires(T x) { x.re; }) f.template operator()<T>();
  });
}

}  // namespace vivace::random
