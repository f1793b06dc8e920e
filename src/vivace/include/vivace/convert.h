// Arguments of Python functions as C++ values. `load` is false, with no exception set, for an object of another type.
#pragma once
#include <map>
#include <unordered_map>

#include "vivace/kernel.h"

namespace vivace {

/// Holder: what keeps the value while the function runs.
template <class T, class = void>
struct Convert {
  static_assert(!sizeof(T),
                "A function of a module takes tensors, numbers, strings, dtypes, devices, lists, tuples, maps and "
                "optional values of these. For more, include <pybind11/pybind11.h> before <torch/extension.h>.");
};

inline bool clear_error() {
  PyErr_Clear();
  return false;
}

template <>
struct Convert<at::Tensor> {
  using Holder = at::Tensor;
  static std::string name() { return "torch.Tensor"; }
  static bool load(PyObject* o, Holder& out) {
    if (!api().is_tensor(o)) return false;
    out = at::Tensor(Object::share(o));
    return true;
  }
};
template <>
struct Convert<Object> {
  using Holder = Object;
  static std::string name() { return "object"; }
  static bool load(PyObject* o, Holder& out) {
    out = Object::share(o);
    return true;
  }
};
template <>
struct Convert<c10::Scalar> {
  using Holder = c10::Scalar;
  static std::string name() { return "Number"; }
  static bool load(PyObject* o, Holder& out) {
    Value v;
    if (!api().unwrap_scalar(o, &v)) return false;
    out = c10::Scalar(v);
    return true;
  }
};
template <>
struct Convert<bool> {
  using Holder = bool;
  static std::string name() { return "bool"; }
  static bool load(PyObject* o, Holder& out) {
    Value v;
    if (!api().unwrap_scalar(o, &v) || v.tag != Tag::Bool) return false;
    out = v.i != 0;
    return true;
  }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  using Holder = T;
  static std::string name() { return "int"; }
  static bool load(PyObject* o, Holder& out) {
    const Object index = Object::maybe(PyNumber_Index(o));
    if (!index) return clear_error();
    if constexpr (std::is_unsigned_v<T>) {
      const unsigned long long x = PyLong_AsUnsignedLongLong(index.get());
      out = T(x);
      return PyErr_Occurred() || x != out ? clear_error() : true;
    } else {
      const long long x = PyLong_AsLongLong(index.get());
      out = T(x);
      return PyErr_Occurred() || x != out ? clear_error() : true;
    }
  }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  using Holder = T;
  static std::string name() { return "float"; }
  static bool load(PyObject* o, Holder& out) {
    out = T(PyFloat_AsDouble(o));
    return PyErr_Occurred() ? clear_error() : true;
  }
};
template <>
struct Convert<std::string> {
  using Holder = std::string;
  static std::string name() { return "str"; }
  static bool load(PyObject* o, Holder& out) {
    if (!PyUnicode_Check(o)) return false;
    out = text_of(o);
    return true;
  }
};
template <>
struct Convert<std::string_view> : Convert<std::string> {};
template <>
struct Convert<const char*> : Convert<std::string> {};
template <>
struct Convert<c10::ScalarType> {
  using Holder = c10::ScalarType;
  static std::string name() { return "torch.dtype"; }
  static bool load(PyObject* o, Holder& out) { return api().unwrap_dtype(o, &out); }
};
template <>
struct Convert<c10::Device> {
  using Holder = c10::Device;
  static std::string name() { return "torch.device"; }
  static bool load(PyObject* o, Holder& out) {
    c10::DeviceType type;
    int32_t index;
    if (!api().unwrap_device(o, &type, &index)) {
      if (PyErr_Occurred()) throw PythonError();  // a device that is not there
      return false;
    }
    out = c10::Device(type, c10::DeviceIndex(index));
    return true;
  }
};
template <class T>
struct Convert<std::optional<T>> {
  using Holder = std::optional<typename Convert<T>::Holder>;
  static std::string name() { return "Optional[" + Convert<T>::name() + "]"; }
  static bool load(PyObject* o, Holder& out) {
    if (o == Py_None) return true;
    return Convert<T>::load(o, out.emplace());
  }
};
template <class T>
struct Convert<std::vector<T>> {
  using Holder = std::vector<T>;
  static std::string name() { return "List[" + Convert<T>::name() + "]"; }
  static bool load(PyObject* o, Holder& out) {
    if (PyUnicode_Check(o) || PyBytes_Check(o) || !PySequence_Check(o) || api().is_tensor(o)) return false;
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) return clear_error();
    for (Py_ssize_t i = 0; i < n; ++i) {
      const Object item = Object::steal(PySequence_GetItem(o, i));
      typename Convert<T>::Holder value{};
      if (!Convert<T>::load(item.get(), value)) return false;
      out.push_back(T(std::move(value)));
    }
    return true;
  }
};
template <class T>
struct Convert<c10::ArrayRef<T>> : Convert<std::vector<T>> {};
template <>
struct Convert<c10::OptionalIntArrayRef> : Convert<std::optional<std::vector<int64_t>>> {};
template <class T, size_t n>
struct Convert<std::array<T, n>> {
  using Holder = std::array<T, n>;
  static std::string name() { return "List[" + Convert<T>::name() + "]"; }
  static bool load(PyObject* o, Holder& out) {
    std::vector<T> items;
    if (!Convert<std::vector<T>>::load(o, items) || items.size() != n) return false;
    std::copy(items.begin(), items.end(), out.begin());
    return true;
  }
};
template <class... T>
struct Convert<std::tuple<T...>> {
  using Holder = std::tuple<T...>;
  static std::string name() {
    std::string text;
    ((text += (text.empty() ? "Tuple[" : ", ") + Convert<T>::name()), ...);
    return text + "]";
  }
  static bool load(PyObject* o, Holder& out) { return items(o, out, std::index_sequence_for<T...>()); }

 private:
  template <size_t... i>
  static bool items(PyObject* o, Holder& out, std::index_sequence<i...>) {
    if (!(PyTuple_Check(o) || PyList_Check(o)) || PySequence_Size(o) != Py_ssize_t(sizeof...(T))) return false;
    return (Convert<T>::load(item_of(o, Py_ssize_t(i)), std::get<i>(out)) && ...);
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> {
  using Holder = std::pair<A, B>;
  static std::string name() { return Convert<std::tuple<A, B>>::name(); }
  static bool load(PyObject* o, Holder& out) {
    std::tuple<A, B> both;
    if (!Convert<std::tuple<A, B>>::load(o, both)) return false;
    out = {std::get<0>(std::move(both)), std::get<1>(std::move(both))};
    return true;
  }
};
template <class M>
struct ConvertMap {
  using Holder = M;
  using K = typename M::key_type;
  using V = typename M::mapped_type;
  static std::string name() { return "Dict[" + Convert<K>::name() + ", " + Convert<V>::name() + "]"; }
  static bool load(PyObject* o, Holder& out) {
    if (!PyDict_Check(o)) return false;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) {
      K k{};
      V v{};
      if (!Convert<K>::load(key, k) || !Convert<V>::load(value, v)) return false;
      out.emplace(std::move(k), std::move(v));
    }
    return true;
  }
};
template <class K, class V>
struct Convert<std::map<K, V>> : ConvertMap<std::map<K, V>> {};
template <class K, class V>
struct Convert<std::unordered_map<K, V>> : ConvertMap<std::unordered_map<K, V>> {};

template <class M, class = typename M::mapped_type>
PyObject* to_python(const M& map) {
  Object made = Object::steal(PyDict_New());
  for (const auto& [key, value] : map) {
    const Object k = Object::steal(to_python(key)), v = Object::steal(to_python(value));
    checked(PyDict_SetItem(made.get(), k.get(), v.get()));
  }
  return made.release();
}
template <class T, size_t n>
PyObject* to_python(const std::array<T, n>& list) {
  return to_python(c10::ArrayRef<T>(list));
}

}  // namespace vivace
