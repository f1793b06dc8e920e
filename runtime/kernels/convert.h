// One element from one type to another, with a defined result for every value: to bool is "is not zero", complex to
// real takes the real part, floating to integer truncates and gives the least integer (as x86 does) where nothing fits.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/core/dtype.h"

namespace vivace {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

namespace detail {
template <class F>
int32_t float_to_int32(F x) {
  return x >= F(-2147483648.0) && x < F(2147483648.0) ? int32_t(x) : std::numeric_limits<int32_t>::min();
}
template <class F>
int64_t float_to_int64(F x) {
  return x >= F(-9223372036854775808.0) && x < F(9223372036854775808.0) ? int64_t(x)
                                                                        : std::numeric_limits<int64_t>::min();
}
template <class I, class F>
I float_to_integer(F x) {
  if constexpr (std::is_same_v<I, uint64_t>)
    return x >= F(9223372036854775808.0) && x < F(18446744073709551616.0)
               ? uint64_t(int64_t(x - F(9223372036854775808.0))) + (uint64_t(1) << 63)
               : uint64_t(float_to_int64(x));
  else if constexpr (sizeof(I) == 8 || std::is_same_v<I, uint32_t>)
    return I(float_to_int64(x));
  else
    return I(float_to_int32(x));
}
}  // namespace detail

template <class To, class From>
inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>)
      return {typename To::value_type(x.re), typename To::value_type(x.im)};
    else if constexpr (std::is_same_v<To, bool>)
      return x.re != 0 || x.im != 0;
    else
      return convert<To>(x.re);
  } else if constexpr (kIsHalf<From>)
    return convert<To>(to_float(x));
  else if constexpr (kIsComplex<To>)
    return {convert<typename To::value_type>(x), 0};
  else if constexpr (std::is_same_v<To, Half>)
    return to_half(float(x));
  else if constexpr (std::is_same_v<To, BFloat16>)
    return to_bfloat16(float(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return detail::float_to_integer<To>(x);
  else
    return To(x);
}

/// The type that arithmetic on T happens in: float for the half types, else T.
template <class T>
using ComputeType = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
inline ComputeType<T> load(T x) {
  return convert<ComputeType<T>>(x);
}

}  // namespace vivace
