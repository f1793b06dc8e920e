// Numbers and lists of numbers from Python. NumPy's scalars are known by the name of their type, so NumPy is never
// imported here.
#include <cstring>

#include "bindings/convert.h"

namespace vivace {

namespace {

bool starts_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

/// An int that may be too large. Throws then.
int64_t int_value(Object* number) {
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow) [[unlikely]]
    fail_value("Overflow when unpacking long long");
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}

/// An int as a scalar, which has room for uint64 too.
Scalar integer_scalar(Object* number) {
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow <= 0) return Scalar(overflow == 0 ? value : int_value(number));
  const uint64_t large = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) throw PythonError{};
  return Scalar(large);
}

/// By way of __index__.
int64_t index_value(Object* object) {
  auto number = Ref<Object>::steal(checked(PyNumber_Index(object)));
  return int_value(number.get());
}

}  // namespace

NumpyKind numpy_scalar_kind(Object* object) {
  const char* name = Py_TYPE(object)->tp_name;
  if (!starts_with(name, "numpy.")) [[likely]]
    return NumpyKind::None;
  name += 6;
  if (starts_with(name, "bool")) return NumpyKind::Bool;
  if (starts_with(name, "int") || starts_with(name, "uint") || starts_with(name, "longlong") ||
      starts_with(name, "ulonglong"))
    return NumpyKind::Int;
  if (starts_with(name, "float") || starts_with(name, "longdouble")) return NumpyKind::Float;
  if (starts_with(name, "complex") || starts_with(name, "clongdouble")) return NumpyKind::Complex;
  return NumpyKind::None;
}

bool is_numpy_array(Object* object) {
  const char* name = Py_TYPE(object)->tp_name;
  if (std::strcmp(name, "numpy.ndarray") == 0) [[likely]]
    return true;
  for (PyTypeObject* type = Py_TYPE(object)->tp_base; type; type = type->tp_base)
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) return true;
  return false;
}

bool unwrap_scalar_slow(Object* object, Scalar* out) {
  if (PyBool_Check(object)) {
    *out = Scalar(object == Py_True);
  } else if (PyLong_Check(object)) {
    *out = integer_scalar(object);
  } else if (PyFloat_Check(object)) {
    *out = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (PyComplex_Check(object)) {
    *out = Scalar(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  } else {
    switch (numpy_scalar_kind(object)) {
      case NumpyKind::None:
        return false;
      case NumpyKind::Bool: {
        const int truth = PyObject_IsTrue(object);
        checked(truth);
        *out = Scalar(truth != 0);
        break;
      }
      case NumpyKind::Int:
        *out = integer_scalar(Ref<Object>::steal(checked(PyNumber_Index(object))).object());
        break;
      case NumpyKind::Float: {
        const double value = PyFloat_AsDouble(object);
        if (value == -1 && PyErr_Occurred()) throw PythonError{};
        *out = Scalar(value);
        break;
      }
      case NumpyKind::Complex: {
        const Py_complex value = PyComplex_AsCComplex(object);
        if (value.real == -1 && PyErr_Occurred()) throw PythonError{};
        *out = Scalar(value.real, value.imag);
        break;
      }
    }
  }
  return true;
}

bool unwrap_int_slow(Object* object, int64_t* out) {
  if (PyLong_Check(object)) {
    if (PyBool_Check(object)) return false;
    PyErr_Clear();
    *out = int_value(object);
    return true;
  }
  if (is_tensor(object)) {
    const Tensor& t = tensor_of(object);
    if (t.numel() != 1 || !is_integral(t.dtype()) || t.requires_grad()) return false;
    *out = item(t).to_int();
    return true;
  }
  if (numpy_scalar_kind(object) != NumpyKind::Int) return false;
  *out = index_value(object);
  return true;
}

bool unwrap_double(Object* object, double* out) {
  if (PyFloat_Check(object)) [[likely]] {
    *out = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_Check(object)) {
    *out = PyLong_AsDouble(object);
    if (*out == -1 && PyErr_Occurred()) throw PythonError{};
    return true;
  }
  Scalar scalar;
  if (is_tensor(object)) {
    const Tensor& t = tensor_of(object);
    if (t.numel() != 1 || is_complex(t.dtype())) return false;
    scalar = item(t);
  } else if (!unwrap_scalar_slow(object, &scalar) || scalar.is_complex()) {
    return false;
  }
  *out = scalar.to_double();
  return true;
}

bool unwrap_bool(Object* object, bool* out) {
  if (PyBool_Check(object)) [[likely]] {
    *out = object == Py_True;
    return true;
  }
  if (numpy_scalar_kind(object) != NumpyKind::Bool) return false;
  const int truth = PyObject_IsTrue(object);
  checked(truth);
  *out = truth != 0;
  return true;
}

bool unwrap_ints(Object* const* args, Py_ssize_t n, Dims* out) {
  if (n == 1 && (PyTuple_Check(args[0]) || PyList_Check(args[0]))) return unwrap_ints(args[0], out);
  if (n > kMaxDims) fail_value("more than ", kMaxDims, " dimensions are not supported, got ", n);
  out->n = int(n);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!unwrap_int(args[i], &out->v[i])) return false;
  return true;
}

bool unwrap_ints(Object* object, Dims* out) {
  Py_ssize_t n;
  Object** items;
  if (PyTuple_Check(object)) {
    n = PyTuple_GET_SIZE(object);
    items = reinterpret_cast<PyTupleObject*>(object)->ob_item;
  } else if (PyList_Check(object)) {
    n = PyList_GET_SIZE(object);
    items = reinterpret_cast<PyListObject*>(object)->ob_item;
  } else {
    return false;
  }
  if (n > kMaxDims) fail_value("more than ", kMaxDims, " dimensions are not supported, got ", n);
  out->n = int(n);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!unwrap_int(items[i], &out->v[i])) return false;
  return true;
}

Object* wrap(const Scalar& scalar) {
  switch (scalar.tag) {
    case Tag::Bool:
      return PyBool_FromLong(scalar.i != 0);
    case Tag::Int:
      return scalar.is_above_int64() ? PyLong_FromUnsignedLongLong(uint64_t(scalar.i)) : PyLong_FromLongLong(scalar.i);
    case Tag::Float:
      return PyFloat_FromDouble(scalar.f);
    case Tag::Complex:
      return PyComplex_FromDoubles(scalar.f, scalar.imag);
    default:
      Py_RETURN_NONE;
  }
}

}  // namespace vivace
