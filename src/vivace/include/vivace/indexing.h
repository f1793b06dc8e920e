// x.index({...}): what stands between the brackets in Python, in PyTorch's C++ names.
#pragma once
#include "vivace/members.h"

namespace at::indexing {

inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

struct Slice {
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {}, std::optional<int64_t> step = {})
      : start(start), stop(stop), step(step) {}
  std::optional<int64_t> start, stop, step;
};

/// One index, as the object that Python would be given.
struct TensorIndex {
  TensorIndex(std::nullopt_t) : object(vivace::Object::share(Py_None)) {}
  TensorIndex(EllipsisIndexType) : object(vivace::Object::share(Py_Ellipsis)) {}
  TensorIndex(const char* text) : TensorIndex(Ellipsis) {
    TORCH_CHECK_VALUE(std::string_view(text) == "...", "Expected \"...\" to represent an ellipsis index, but got \"",
                      text, "\"");
  }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  TensorIndex(T i)
      : object(vivace::Object::steal(std::is_same_v<T, bool> ? PyBool_FromLong(i) : PyLong_FromLongLong(i))) {}
  TensorIndex(const Slice& s) {
    const vivace::Object start = number(s.start), stop = number(s.stop), step = number(s.step);
    object = vivace::Object::steal(PySlice_New(start.get(), stop.get(), step.get()));
  }
  TensorIndex(const Tensor& t) : object(t.object()) {}

  static vivace::Object number(std::optional<int64_t> x) {
    return x ? vivace::Object::steal(PyLong_FromLongLong(*x)) : vivace::Object::share(Py_None);
  }

  vivace::Object object;
};

inline vivace::Object key_of(ArrayRef<TensorIndex> indices) {
  vivace::Object key = vivace::Object::steal(PyTuple_New(Py_ssize_t(indices.size())));
  for (size_t i = 0; i < indices.size(); ++i)
    vivace::checked(PyTuple_SetItem(key.get(), Py_ssize_t(i), vivace::new_reference(indices[i].object.get())));
  return key;
}

}  // namespace at::indexing

namespace at {

inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  return of_result(PyObject_GetItem(object_.get(), indexing::key_of(indices).get()));
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return index(ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor Tensor::operator[](int64_t i) const { return select(0, i); }
inline Tensor Tensor::operator[](const Tensor& i) const { return index({i}); }
inline const Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value) const {
  vivace::checked(PyObject_SetItem(object_.get(), indexing::key_of(indices).get(), value.object().get()));
  return *this;
}
inline const Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                        const Tensor& value) const {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}
inline const Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                        const Scalar& value) const {
  return index_put_(indices, scalar_tensor(value, scalar_type()));
}

}  // namespace at

namespace torch {
namespace indexing = at::indexing;
}
