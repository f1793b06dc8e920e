// Scalar arithmetic over every element type, for kernels that are templates over it: real, complex and half alike.
#pragma once
#include <cstdint>
#include <type_traits>

#include "runtime/core/dtype.h"
#include "runtime/core/error.h"

namespace vivace::kernels {

template <class T>
inline constexpr bool is_complex_type = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The type in which formulas over T are computed.
template <class T>
using Wide = std::conditional_t<is_half_type<T>, float, T>;

template <class T>
constexpr T add(T a, T b) {
  if constexpr (is_complex_type<T>)
    return {a.re + b.re, a.im + b.im};
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) + uint64_t(b));  // wraps
  else
    return T(a + b);
}
template <class T>
constexpr T mul(T a, T b) {
  if constexpr (is_complex_type<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) * uint64_t(b));  // wraps
  else
    return T(a * b);
}
template <class T>
constexpr bool is_zero(T a) {
  if constexpr (is_complex_type<T>)
    return a.re == 0 && a.im == 0;
  else
    return a == 0;
}
template <class T>
constexpr bool is_nan(T a) {
  if constexpr (is_complex_type<T>)
    return a.re != a.re || a.im != a.im;
  else
    return a != a;
}

/// An element as a number of type A.
template <class A, class T>
inline A widen(T x) {
  if constexpr (is_half_type<T>)
    return A(to_float(x));
  else if constexpr (is_complex_type<T>)
    return A{typename A::value_type(x.re), typename A::value_type(x.im)};
  else
    return A(x);
}
/// A number as an element: half types are rounded, integers wrap.
template <class T, class A>
inline T narrow(A x) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(float(x));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(float(x));
  else if constexpr (is_complex_type<T>)
    return T{typename T::value_type(x.re), typename T::value_type(x.im)};
  else
    return T(x);
}

/// Calls f<T>() for the floating dtypes, half types included; NotImplementedError that names `op` for all others.
template <class F>
decltype(auto) visit_floating(DType t, const char* op, F&& f) {
  switch (t) {
    case DType::Float16:
      return f.template operator()<Half>();
    case DType::BFloat16:
      return f.template operator()<BFloat16>();
    case DType::Float32:
      return f.template operator()<float>();
    case DType::Float64:
      return f.template operator()<double>();
    default:
      fail_not_implemented("\"", op, "\" not implemented for '", t, "'");
  }
}

}  // namespace vivace::kernels
