// Calls of operators by name: arguments become Values, results C++ values.
#pragma once
#include "vivace/tensor.h"

namespace vivace {

using abi::Tag;
using abi::Value;

// ---- arguments

inline Value make_value(Tag tag, int64_t i = 0) {
  Value v;
  v.i = i;
  v.count = 0;
  v.tag = tag;
  return v;
}
inline Value make_list(Tag tag, const void* items, size_t count) {
  Value v;
  v.objects = static_cast<PyObject* const*>(items);
  v.count = int64_t(count);
  v.tag = tag;
  return v;
}
inline Value no_value() { return make_value(Tag::None); }

inline Value value(const at::Tensor& t) {
  Value v = make_value(t.defined() ? Tag::Tensor : Tag::None);
  v.object = t.object().get();
  return v;
}
inline Value value(const c10::Scalar& x) { return x.value(); }
inline Value value(int64_t x) { return make_value(Tag::Int, x); }
inline Value value(bool x) { return make_value(Tag::Bool, x); }
inline Value value(double x) {
  Value v = make_value(Tag::Float);
  v.f = x;
  return v;
}
inline Value value(c10::IntArrayRef list) { return make_list(Tag::IntList, list.data(), list.size()); }
inline Value value(c10::ArrayRef<double> list) { return make_list(Tag::FloatList, list.data(), list.size()); }
inline Value value(c10::ArrayRef<c10::Scalar> list) { return make_list(Tag::ScalarList, list.data(), list.size()); }
inline Value value(at::TensorList list) { return make_list(Tag::TensorList, list.data(), list.size()); }
inline Value value(std::string_view text) { return make_list(Tag::String, text.data(), text.size()); }
inline Value value(c10::ScalarType t) { return make_value(Tag::ScalarType, int64_t(t)); }
inline Value value(c10::Device d) { return make_value(Tag::Device, int64_t(d.type()) | int64_t(d.index()) * 256); }
inline Value value(c10::MemoryFormat f) { return make_value(Tag::MemoryFormat, int64_t(f)); }
inline Value value(const at::Generator& g) {
  Value v = make_value(Tag::Object);
  v.object = g.object().get();
  return v;
}
template <class T>
Value value(const std::optional<T>& x) {
  return x ? value(*x) : no_value();
}
/// How a loss reduces, which operators know by name.
inline Value reduction(int64_t number) {
  static constexpr const char* names[] = {"none", "mean", "sum"};
  TORCH_CHECK_VALUE(number >= 0 && number < 3, number, " is not a valid value for reduction");
  return value(std::string_view(names[number]));
}

// ---- results

/// Item i of a tuple or list; borrowed.
inline PyObject* item_of(PyObject* sequence, Py_ssize_t i) {
  return PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i) : PyList_GetItem(sequence, i);
}

template <class T>
struct Result;

/// The C++ value of a result, whose reference it takes over.
template <class T>
T result(PyObject* object) {
  return Result<T>::from(object);
}
template <class T>
T shared_result(PyObject* object) {
  return Result<T>::from(new_reference(object));
}
template <>
struct Result<at::Tensor> {
  static at::Tensor from(PyObject* o) { return at::Tensor::of_result(o); }
};
template <>
struct Result<void> {
  static void from(PyObject* o) { Object::steal(o); }
};
template <>
struct Result<c10::Scalar> {
  static c10::Scalar from(PyObject* o) {
    const Object owned = Object::steal(o);
    Value v;
    if (!api().unwrap_scalar(o, &v)) throw c10::TypeError("an operator returned something that is not a number");
    return c10::Scalar(v);
  }
};
template <>
struct Result<bool> {
  static bool from(PyObject* o) { return result<c10::Scalar>(o).toBool(); }
};
template <>
struct Result<int64_t> {
  static int64_t from(PyObject* o) { return result<c10::Scalar>(o).toLong(); }
};
template <>
struct Result<double> {
  static double from(PyObject* o) { return result<c10::Scalar>(o).toDouble(); }
};
template <>
struct Result<std::string> {
  static std::string from(PyObject* o) { return text_of(Object::steal(o).get()); }
};
template <class T>
struct Result<std::vector<T>> {
  static std::vector<T> from(PyObject* o) {
    const Object owned = Object::steal(o);
    const Py_ssize_t n = PySequence_Size(o);
    std::vector<T> list;
    for (Py_ssize_t i = 0; i < n; ++i) list.push_back(shared_result<T>(item_of(o, i)));
    return list;
  }
};
template <class... T>
struct Result<std::tuple<T...>> {
  static std::tuple<T...> from(PyObject* o) {
    const Object owned = Object::steal(o);
    return items(o, std::index_sequence_for<T...>());
  }
  template <size_t... i>
  static std::tuple<T...> items(PyObject* o, std::index_sequence<i...>) {
    return {shared_result<T>(item_of(o, Py_ssize_t(i)))...};
  }
};

/// An operator, which is looked up when it is first called.
class Operator {
 public:
  /// "aten::add.Tensor"; abi.h says how signatures are written.
  constexpr Operator(const char* qualname, const char* signature) : qualname_(qualname), signature_(signature) {}
  /// A new reference.
  PyObject* operator()(const Value* args, int32_t count) const {
    const Gil gil;
    const abi::Table& table = api();
    if (!found_) [[unlikely]] {
      found_ = table.find_operator(qualname_, signature_);
      if (!found_) throw PythonError();
    }
    PyObject* made = table.call(found_, args, count);
    if (!made) [[unlikely]]
      throw PythonError();
    return made;
  }

 private:
  const char* qualname_;
  const char* signature_;
  mutable const abi::Operator* found_ = nullptr;
};

}  // namespace vivace
