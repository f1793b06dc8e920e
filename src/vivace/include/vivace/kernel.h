// C++ functions as kernels of operators: the letters and schema of their types, arguments from Values, results as
// objects.
#pragma once
#include "vivace/members.h"

namespace vivace {

// ---- results, and arguments of Python functions

inline PyObject* to_python(const at::Tensor& t) { return t.defined() ? new_reference(t.object().get()) : none(); }
inline PyObject* to_python(const Object& o) { return new_reference(o.get()); }
inline PyObject* to_python(bool x) { return PyBool_FromLong(x); }
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
PyObject* to_python(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return PyFloat_FromDouble(double(x));
  else if constexpr (std::is_unsigned_v<T>)
    return PyLong_FromUnsignedLongLong(x);
  else
    return PyLong_FromLongLong(x);
}
inline PyObject* to_python(const std::complex<double>& x) { return PyComplex_FromDoubles(x.real(), x.imag()); }
inline PyObject* to_python(const c10::Scalar& x) {
  if (x.isComplex()) return to_python(x.to<std::complex<double>>());
  if (x.isFloatingPoint()) return to_python(x.toDouble());
  return x.isBoolean() ? to_python(x.toBool()) : to_python(x.toLong());
}
inline PyObject* to_python(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
}
inline PyObject* to_python(const std::string& text) { return to_python(std::string_view(text)); }
inline PyObject* to_python(const char* text) { return to_python(std::string_view(text)); }
inline PyObject* to_python(c10::ScalarType t) { return api().wrap_dtype(t); }
inline PyObject* to_python(c10::Device d) { return api().wrap_device(d.type(), d.index()); }
template <class T>
PyObject* to_python(const std::optional<T>& x);
template <class T>
PyObject* to_python(c10::ArrayRef<T> list);
template <class T>
PyObject* to_python(const std::vector<T>& list);
template <class... T>
PyObject* to_python(const std::tuple<T...>& values);
template <class A, class B>
PyObject* to_python(const std::pair<A, B>& values);

template <class T>
PyObject* to_python(const std::optional<T>& x) {
  return x ? to_python(*x) : none();
}
template <class T>
PyObject* to_python(c10::ArrayRef<T> list) {
  Object made = Object::steal(PyList_New(Py_ssize_t(list.size())));
  for (size_t i = 0; i < list.size(); ++i)
    checked(PyList_SetItem(made.get(), Py_ssize_t(i), checked(to_python(list[i]))));
  return made.release();
}
template <class T>
PyObject* to_python(const std::vector<T>& list) {
  Object made = Object::steal(PyList_New(Py_ssize_t(list.size())));
  for (size_t i = 0; i < list.size(); ++i)
    checked(PyList_SetItem(made.get(), Py_ssize_t(i), checked(to_python(T(list[i])))));
  return made.release();
}
template <class... T>
PyObject* to_python(const std::tuple<T...>& values) {
  return std::apply([](const T&... v) { return Object::pack(to_python(v)...).release(); }, values);
}
template <class A, class B>
PyObject* to_python(const std::pair<A, B>& values) {
  return to_python(std::tie(values.first, values.second));
}

// ---- types of a kernel

/// `letter` of abi.h, `schema` as signatures write it, the C++ value of a Value.
template <class T>
struct Type {
  static_assert(!sizeof(T),
                "An operator's kernel takes and returns at::Tensor, int64_t, double, bool, at::Scalar, std::string, "
                "at::ScalarType, at::Device, at::MemoryFormat, lists of these (IntArrayRef, TensorList, std::vector) "
                "and std::optional of these. Use int64_t for int and double for float.");
};

#define VIVACE_TYPE(type, code, text, expression)           \
  template <>                                               \
  struct Type<type> {                                       \
    static std::string letter() { return code; }            \
    static std::string schema() { return text; }            \
    static type from(const Value& v) { return expression; } \
  };

template <class T>
c10::ArrayRef<T> list_of(const Value& v) {
  return {reinterpret_cast<const T*>(v.objects), size_t(v.count)};
}
VIVACE_TYPE(at::Tensor, "T", "Tensor", at::Tensor(v.tag == Tag::None ? Object() : Object::share(v.object)))
VIVACE_TYPE(int64_t, "i", "int", v.i)
VIVACE_TYPE(double, "f", "float", v.f)
VIVACE_TYPE(bool, "b", "bool", v.i != 0)
VIVACE_TYPE(c10::Scalar, "s", "Scalar", c10::Scalar(v))
VIVACE_TYPE(std::string_view, "t", "str", (std::string_view{v.chars, size_t(v.count)}))
VIVACE_TYPE(std::string, "t", "str", (std::string{v.chars, size_t(v.count)}))
VIVACE_TYPE(c10::ScalarType, "d", "ScalarType", c10::ScalarType(v.i))
VIVACE_TYPE(c10::Device, "D", "Device", (c10::Device{c10::DeviceType(v.i & 255), c10::DeviceIndex(v.i >> 8)}))
VIVACE_TYPE(c10::MemoryFormat, "m", "MemoryFormat", c10::MemoryFormat(v.i))
VIVACE_TYPE(at::Generator, "g", "Generator", at::Generator(Object::share(v.object)))
VIVACE_TYPE(c10::IntArrayRef, "I", "int[]", list_of<int64_t>(v))
VIVACE_TYPE(std::vector<int64_t>, "I", "int[]", list_of<int64_t>(v).vec())
VIVACE_TYPE(c10::ArrayRef<double>, "F", "float[]", list_of<double>(v))
VIVACE_TYPE(std::vector<double>, "F", "float[]", list_of<double>(v).vec())
VIVACE_TYPE(at::TensorList, "L", "Tensor[]", list_of<at::Tensor>(v))
VIVACE_TYPE(std::vector<at::Tensor>, "L", "Tensor[]", list_of<at::Tensor>(v).vec())
#undef VIVACE_TYPE

template <class T>
struct Type<std::optional<T>> {
  static std::string letter() { return Type<T>::letter() + "?"; }
  static std::string schema() { return Type<T>::schema() + "?"; }
  static std::optional<T> from(const Value& v) {
    return v.tag == Tag::None ? std::nullopt : std::optional<T>(Type<T>::from(v));
  }
};
template <>
struct Type<c10::OptionalIntArrayRef> : Type<std::optional<c10::IntArrayRef>> {};
template <>
struct Type<void> {
  static std::string letter() { return ""; }
  static std::string schema() { return "()"; }
};
template <class... T>
struct Type<std::tuple<T...>> {
  static std::string letter() { return (Type<T>::letter() + ...); }
  static std::string schema() {
    std::string text;
    ((text += (text.empty() ? "(" : ", ") + Type<T>::schema()), ...);
    return text + ")";
  }
};

/// What a callable takes and returns, as a function type.
template <class F>
struct FunctionType : FunctionType<decltype(&F::operator())> {};
template <class R, class... A>
struct FunctionType<R(A...)> {
  using type = R(A...);
};
template <class R, class... A>
struct FunctionType<R (*)(A...)> : FunctionType<R(A...)> {};
template <class C, class R, class... A>
struct FunctionType<R (C::*)(A...)> : FunctionType<R(A...)> {};
template <class C, class R, class... A>
struct FunctionType<R (C::*)(A...) const> : FunctionType<R(A...)> {};

template <class F>
struct Kernel;
template <class R, class... A>
struct Kernel<R(A...)> {
  static std::string signature() { return (std::string() + ... + Type<std::decay_t<A>>::letter()) + ">" + result(); }
  static std::string schema(const std::string& name) {
    std::string text;
    int i = 0;
    ((text += (text.empty() ? "" : ", ") + Type<std::decay_t<A>>::schema() + " _" + std::to_string(i++)), ...);
    return name + "(" + text + ") -> " + Type<std::decay_t<R>>::schema();
  }
  /// A KernelFunction; `context` is the callable.
  template <class F>
  static PyObject* run(void* context, const Value* args) {
    return guarded([&] { return call(*static_cast<F*>(context), args, std::index_sequence_for<A...>()); });
  }

 private:
  static std::string result() { return Type<std::decay_t<R>>::letter(); }
  template <class F, size_t... i>
  static PyObject* call(F& f, [[maybe_unused]] const Value* args, std::index_sequence<i...>) {
    [[maybe_unused]] std::tuple<std::decay_t<A>...> values{Type<std::decay_t<A>>::from(args[i])...};
    if constexpr (std::is_void_v<R>) {
      f(static_cast<A&&>(std::get<i>(values))...);
      return none();
    } else {
      return to_python(f(static_cast<A&&>(std::get<i>(values))...));
    }
  }
};

/// The kernel that Python registers for a callable, which is kept for good.
template <class F>
Object make_kernel(F&& f) {
  using Callable = std::decay_t<F>;
  using Signature = Kernel<typename FunctionType<Callable>::type>;
  auto* kept = new Callable(std::forward<F>(f));
  return Object::steal(
      api().make_kernel(Signature::template run<Callable>, static_cast<void*>(kept), Signature::signature().c_str()));
}

}  // namespace vivace
