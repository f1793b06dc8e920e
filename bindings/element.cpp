// Single elements between memory and Python numbers.
#include <cmath>
#include <cstring>
#include <limits>

#include "bindings/convert.h"

namespace vivace {

namespace {

template <class T>
T load(const char* p) {
  if constexpr (std::is_same_v<T, bool>) return *p != 0;  // fresh memory may hold any byte
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void store(char* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

[[noreturn]] void fail_range(DType t) { fail("value cannot be converted to type ", t, " without overflow"); }

/// Negative numbers wrap around in unsigned types, as long as their magnitude fits.
template <class T>
T narrow(int64_t value, DType t) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_unsigned_v<T>) {
    if (value < 0 && (value == INT64_MIN || uint64_t(-value) > Limits::max())) fail_range(t);
    if (value > 0 && uint64_t(value) > Limits::max()) fail_range(t);
  } else {
    if (value < Limits::min() || value > Limits::max()) fail_range(t);
  }
  return T(value);
}
template <class T>
T narrow(double value, DType t) {
  using Limits = std::numeric_limits<T>;
  const double top = std::ldexp(1.0, Limits::digits);  // one more than the largest; exact
  if (!(value < top) || !(value > double(Limits::min()) - 1.0)) fail_range(t);
  return T(value);
}
int64_t narrow_long(double value, DType t) {
  if (!(value >= -0x1p63 && value < 0x1p63)) fail_range(t);
  return int64_t(value);
}

double real_number(Object* number) {
  if (PyFloat_CheckExact(number)) [[likely]]
    return PyFloat_AS_DOUBLE(number);
  const double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}

Ref<Object> index_of(Object* number) {
  if (PyLong_Check(number)) [[likely]]
    return Ref<Object>::share(number);
  return Ref<Object>::steal(checked(PyNumber_Index(number)));
}

template <class T>
T integer(Object* number, DType t) {
  if (PyFloat_Check(number)) {
    if constexpr (sizeof(T) == 8) return T(narrow_long(real_number(number), t));
    return narrow<T>(real_number(number), t);
  }
  const Ref<Object> index = index_of(number);
  if constexpr (std::is_same_v<T, uint64_t>) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(index.get());
    if (value == ~0ULL && PyErr_Occurred()) throw PythonError{};
    return value;
  }
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow) fail_value("Overflow when unpacking long long");
  return narrow<T>(value, t);
}

Py_complex complex_number(Object* number) {
  const Py_complex value = PyComplex_AsCComplex(number);
  if (value.real == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}

}  // namespace

Object* element_to_python(const char* p, DType dtype) {
  return visit(dtype, [&]<class T>() -> Object* {
    const T value = load<T>(p);
    if constexpr (std::is_same_v<T, bool>) {
      return PyBool_FromLong(value);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      return PyLong_FromUnsignedLongLong(value);
    } else if constexpr (std::is_integral_v<T>) {
      return PyLong_FromLongLong(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return PyFloat_FromDouble(value);
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return PyFloat_FromDouble(to_float(value));
    } else {
      return PyComplex_FromDoubles(value.re, value.im);
    }
  });
}

void store_element(char* p, DType dtype, Object* number) {
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      const int truth = PyObject_IsTrue(number);
      checked(truth);
      store<bool>(p, truth != 0);
    } else if constexpr (std::is_integral_v<T>) {
      store<T>(p, integer<T>(number, dtype));
    } else if constexpr (std::is_floating_point_v<T>) {
      store<T>(p, T(real_number(number)));
    } else if constexpr (std::is_same_v<T, Half>) {
      store<T>(p, to_half(float(real_number(number))));
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      store<T>(p, to_bfloat16(float(real_number(number))));
    } else {
      const Py_complex value = complex_number(number);
      using Part = typename T::value_type;
      store<T>(p, {Part(value.real), Part(value.imag)});
    }
  });
}

}  // namespace vivace
