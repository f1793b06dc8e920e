// Typed C++ values from and to the boxed calling convention of op.h. Generated wrappers use these; nothing else needs
// to.
#pragma once
#include <optional>
#include <tuple>
#include <vector>

#include "runtime/dispatch/op.h"

namespace vivace {

// ---- arguments: Value -> the C++ type that a kernel declares

template <class T>
struct Unbox;

template <class T>
inline T unbox(const Value& v) {
  return Unbox<T>::from(v);
}

template <>
struct Unbox<Tensor&> {
  static Tensor& from(const Value& v) { return *v.tensor; }
};
template <>
struct Unbox<Tensor*> {
  static Tensor* from(const Value& v) { return v.is_none() ? nullptr : v.tensor; }
};
template <>
struct Unbox<const Scalar&> {
  static const Scalar& from(const Value& v) { return v.scalar(); }
};
template <>
struct Unbox<const Scalar*> {
  static const Scalar* from(const Value& v) { return v.is_none() ? nullptr : &v.scalar(); }
};
template <>
struct Unbox<int64_t> {
  static int64_t from(const Value& v) { return v.i; }
};
template <>
struct Unbox<double> {
  static double from(const Value& v) { return v.tag == Tag::Float ? v.f : double(v.i); }
};
template <>
struct Unbox<bool> {
  static bool from(const Value& v) { return v.i != 0; }
};
template <>
struct Unbox<IntList> {
  static IntList from(const Value& v) { return v.int_list(); }
};
template <>
struct Unbox<std::span<const double>> {
  static std::span<const double> from(const Value& v) { return v.float_list(); }
};
template <>
struct Unbox<std::span<const Scalar>> {
  static std::span<const Scalar> from(const Value& v) { return {v.scalars, size_t(v.count)}; }
};
template <>
struct Unbox<TensorList> {
  static TensorList from(const Value& v) { return v.tensor_list(); }
};
template <>
struct Unbox<DType> {
  static DType from(const Value& v) { return v.dtype(); }
};
template <>
struct Unbox<Device> {
  static Device from(const Value& v) { return v.device(); }
};
template <>
struct Unbox<MemoryFormat> {
  static MemoryFormat from(const Value& v) { return v.memory_format(); }
};
template <>
struct Unbox<std::string_view> {
  static std::string_view from(const Value& v) { return v.string(); }
};
template <>
struct Unbox<Object*> {
  static Object* from(const Value& v) { return v.is_none() ? nullptr : v.object; }
};
template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> from(const Value& v) {
    return v.is_none() ? std::nullopt : std::optional<T>(Unbox<T>::from(v));
  }
};

// ---- arguments, the other way

inline Value to_value(Tensor& t) { return Value::of(&t); }
inline Value to_value(Tensor* t) { return Value::of(t); }
inline Value to_value(const Scalar& s) { return Value::of(s); }
inline Value to_value(const Scalar* s) { return s ? Value::of(*s) : Value::none(); }
inline Value to_value(int64_t x) { return Value::of(x); }
inline Value to_value(double x) { return Value::of(x); }
inline Value to_value(bool x) { return Value::of(x); }
inline Value to_value(IntList x) { return Value::of(x); }
inline Value to_value(TensorList x) { return Value::of(x); }
inline Value to_value(DType x) { return Value::of(x); }
inline Value to_value(Device x) { return Value::of(x); }
inline Value to_value(MemoryFormat x) { return Value::of(x); }
inline Value to_value(std::string_view x) { return Value::of(x); }
inline Value to_value(std::span<const double> x) {
  Value v = Value::none();
  v.floats = x.data(), v.count = int64_t(x.size()), v.tag = Tag::FloatList;
  return v;
}
inline Value to_value(std::span<const Scalar> x) {
  Value v = Value::none();
  v.scalars = x.data(), v.count = int64_t(x.size()), v.tag = Tag::ScalarList;
  return v;
}
inline Value to_value(Object* x) {
  Value v = Value::none();
  if (x) v.object = x, v.tag = Tag::Object;
  return v;
}
template <class T>
inline Value to_value(const std::optional<T>& x) {
  return x ? to_value(*x) : Value::none();
}

// ---- results: what a kernel returns -> one Python object

inline Object* box(TensorRef t) { return t ? t.release() : Py_NewRef(Py_None); }
inline Object* box(Ref<Object> o) { return o.release(); }
inline Object* box(bool x) { return PyBool_FromLong(x); }
inline Object* box(int64_t x) { return PyLong_FromLongLong(x); }
inline Object* box(double x) { return PyFloat_FromDouble(x); }
inline Object* box(const Scalar& x) {
  if (x.is_bool()) return PyBool_FromLong(x.i != 0);
  if (x.is_above_int64()) return PyLong_FromUnsignedLongLong(uint64_t(x.i));
  if (x.is_integral()) return PyLong_FromLongLong(x.i);
  if (x.is_complex()) return PyComplex_FromDoubles(x.f, x.imag);
  return PyFloat_FromDouble(x.f);
}
template <class T>
inline Object* box(std::vector<T> list) {
  Object* tuple = PyTuple_New(Py_ssize_t(list.size()));
  for (size_t i = 0; i < list.size(); ++i) PyTuple_SET_ITEM(tuple, Py_ssize_t(i), box(std::move(list[i])));
  return tuple;
}
template <class... T>
inline Object* box(std::tuple<T...> results) {
  Object* tuple = PyTuple_New(sizeof...(T));
  Py_ssize_t i = 0;
  std::apply([&](auto&... r) { (PyTuple_SET_ITEM(tuple, i++, box(std::move(r))), ...); }, results);
  return tuple;
}

// ---- results, the other way; the object's reference is used up

template <class T>
struct UnboxResult;

template <class T>
inline T unbox_result(Object* result) {
  return UnboxResult<T>::from(result);
}

inline TensorRef share_tensor(Object* o) {
  return o == Py_None ? TensorRef() : TensorRef::share(static_cast<Tensor*>(o));
}
template <>
struct UnboxResult<TensorRef> {
  static TensorRef from(Object* o) { return TensorRef::steal(static_cast<Tensor*>(o)); }
};
template <>
struct UnboxResult<Ref<Object>> {
  static Ref<Object> from(Object* o) { return Ref<Object>::steal(o); }
};
template <>
struct UnboxResult<std::vector<TensorRef>> {
  static std::vector<TensorRef> from(Object* o) {
    std::vector<TensorRef> list(size_t(PyTuple_GET_SIZE(o)));
    for (size_t i = 0; i < list.size(); ++i) list[i] = share_tensor(PyTuple_GET_ITEM(o, Py_ssize_t(i)));
    Py_DECREF(o);
    return list;
  }
};
template <class... T>
struct UnboxResult<std::tuple<T...>> {
  static std::tuple<T...> from(Object* o) {
    std::tuple<T...> results;
    Py_ssize_t i = 0;
    std::apply([&](auto&... r) { ((r = share_tensor(PyTuple_GET_ITEM(o, i++))), ...); }, results);
    Py_DECREF(o);
    return results;
  }
};
template <>
struct UnboxResult<void> {
  static void from(Object* o) { Py_DECREF(o); }
};
template <>
struct UnboxResult<bool> {
  static bool from(Object* o) {
    Py_DECREF(o);
    return o == Py_True;
  }
};
template <>
struct UnboxResult<int64_t> {
  static int64_t from(Object* o) {
    const int64_t x = PyLong_AsLongLong(o);
    Py_DECREF(o);
    return x;
  }
};
template <>
struct UnboxResult<double> {
  static double from(Object* o) {
    const double x = PyFloat_AsDouble(o);
    Py_DECREF(o);
    return x;
  }
};
template <>
struct UnboxResult<Scalar> {
  static Scalar from(Object* o) {
    Scalar s = PyBool_Check(o)      ? Scalar(o == Py_True)
               : PyLong_Check(o)    ? Scalar(int64_t(PyLong_AsLongLong(o)))
               : PyComplex_Check(o) ? Scalar(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o))
                                    : Scalar(PyFloat_AsDouble(o));
    Py_DECREF(o);
    return s;
  }
};

}  // namespace vivace
