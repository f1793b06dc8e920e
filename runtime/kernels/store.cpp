// Python numbers as elements, by PyTorch's rule of what fits a dtype.
#include <cmath>
#include <limits>

#include "runtime/kernels/convert.h"
#include "runtime/kernels/copy.h"

namespace vivace::kernels {
namespace {

/// As PyTorch's messages about numbers call a dtype.
const char* value_type_name(DType t) {
  static const char* const names[] = {"bool",
                                      "uint8_t",
                                      "int8_t",
                                      "int16_t",
                                      "uint16_t",
                                      "int",
                                      "uint32_t",
                                      "int64_t",
                                      "uint64_t",
                                      "c10::Half",
                                      "c10::BFloat16",
                                      "float",
                                      "double",
                                      "c10::complex<float>",
                                      "c10::complex<double>"};
  return names[int(t)];
}

/// Negative integers wrap around in unsigned types, as long as their magnitude fits.
template <class T>
bool integer_fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if (!value.is_integral()) {
    const double above = std::ldexp(1.0, Limits::digits);  // one more than the largest; exact
    const bool below_above = sizeof(T) == 8 ? value.f < above : value.f <= double(Limits::max());
    return below_above && value.f >= double(Limits::min());
  }
  if (value.is_above_int64()) return std::is_same_v<T, uint64_t>;
  if constexpr (std::is_same_v<T, uint64_t>)
    return true;
  else if constexpr (std::is_unsigned_v<T>)
    return value.i >= -int64_t(Limits::max()) && value.i <= int64_t(Limits::max());
  else
    return value.i >= Limits::min() && value.i <= Limits::max();
}

bool magnitude_fits(double x, double largest) { return !std::isfinite(x) || std::fabs(x) <= largest; }

bool fits(const Scalar& value, DType dtype) {
  return visit(dtype, [&]<class T>() {
    if constexpr (kIsComplex<T>) {
      const double largest = std::numeric_limits<typename T::value_type>::max();
      return magnitude_fits(value.to_double(), largest) && magnitude_fits(value.imag_part(), largest);
    } else {
      if constexpr (std::is_same_v<T, bool>) return true;
      if (value.imag_part() != 0) return false;
      if constexpr (std::is_integral_v<T>)
        return integer_fits<T>(value);
      else if constexpr (std::is_same_v<T, Half>)
        return magnitude_fits(value.to_double(), 65504);
      else if constexpr (std::is_same_v<T, BFloat16>)
        return magnitude_fits(value.to_double(), 0x1.fep127);
      else
        return magnitude_fits(value.to_double(), std::numeric_limits<T>::max());
    }
  });
}

}  // namespace

void check_fits(const Scalar& value, DType dtype) {
  if (!fits(value, dtype)) [[unlikely]]
    fail("value cannot be converted to type ", value_type_name(dtype), " without overflow");
}

void store_scalar(DType dtype, char* dst, const Scalar& value) {
  check_fits(value, dtype);
  store_wrapped(dtype, dst, value);
}

void store_wrapped(DType dtype, char* dst, const Scalar& value) {
  visit(dtype, [&]<class T>() {
    T& to = *reinterpret_cast<T*>(dst);
    if (value.is_above_int64())
      to = convert<T>(uint64_t(value.i));
    else if (value.is_integral())
      to = convert<T>(value.i);
    else if (value.is_complex())
      to = convert<T>(Complex<double>{value.f, value.imag});
    else
      to = convert<T>(value.f);
  });
}

}  // namespace vivace::kernels
