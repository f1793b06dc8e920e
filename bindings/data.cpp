// Tensors from nested lists, numbers, arrays and tensors: which dtype and sizes they have, and their elements.
#include <cstring>

#include "bindings/convert.h"
#include "generated/ops/factory/convert.h"
#include "runtime/autograd/layers.h"

namespace vivace {

namespace {

/// What Python's own number types become; false for other objects.
bool dtype_of_number(Object* object, DType* out) {
  if (PyFloat_CheckExact(object)) {
    *out = default_dtype;
  } else if (PyLong_CheckExact(object)) {
    *out = DType::Int64;
  } else if (PyBool_Check(object)) {
    *out = DType::Bool;
  } else if (numpy_scalar_kind(object) != NumpyKind::None) {
    *out = numpy_dtype(object);
  } else if (PyFloat_Check(object)) {
    *out = default_dtype;
  } else if (PyLong_Check(object)) {
    *out = DType::Int64;
  } else if (PyComplex_Check(object)) {
    *out = complex_of(default_dtype);
  } else {
    return false;
  }
  return true;
}

void refuse_text(Object* data) {
  if (PyUnicode_Check(data) || PyBytes_Check(data))
    fail_type("new(): invalid data type '", Py_TYPE(data)->tp_name, "'");
}

/// Guards against lists that hold themselves.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while reading tensor data")) throw PythonError{};
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

DType infer_dtype(Object* data);

DType infer_sequence(Object* sequence) {
  const RecursionGuard guard;
  auto elements = Ref<Object>::steal(checked(PySequence_Fast(sequence, "not a sequence")));
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(elements.get());
  if (n == 0) return default_dtype;
  DType result = infer_dtype(PySequence_Fast_GET_ITEM(elements.get(), 0));
  PyTypeObject* last = nullptr;
  for (Py_ssize_t i = 1; i < PySequence_Fast_GET_SIZE(elements.get()); ++i) {
    Object* element = PySequence_Fast_GET_ITEM(elements.get(), i);
    // A run of floats or ints, the common case, needs one look.
    if (Py_IS_TYPE(element, last)) continue;
    result = promote_types(result, infer_dtype(element));
    last = PyFloat_CheckExact(element) || PyLong_CheckExact(element) ? Py_TYPE(element) : nullptr;
  }
  return result;
}

DType infer_dtype(Object* data) {
  DType dtype;
  if (dtype_of_number(data, &dtype)) return dtype;
  if (is_tensor(data)) return tensor_of(data).dtype();
  if (is_numpy_array(data)) return numpy_dtype(data);
  refuse_text(data);
  if (PySequence_Check(data)) return infer_sequence(data);
  fail("Could not infer dtype of ", Py_TYPE(data)->tp_name);
}

/// Follows first elements down to a number.
Dims find_sizes(Object* data) {
  Dims sizes;
  auto current = Ref<Object>::share(data);
  while (PySequence_Check(current.get()) && !is_tensor(current.get())) {
    const Py_ssize_t n = PySequence_Size(current.get());
    checked(n < 0 ? -1 : 0);
    if (sizes.n == kMaxDims) fail_value("too many dimensions '", Py_TYPE(current.get())->tp_name, "'");
    sizes.push(n);
    if (n == 0) break;
    current = Ref<Object>::steal(checked(PySequence_GetItem(current.get(), 0)));
  }
  return sizes;
}

/// Writes the elements of nested sequences one after the other.
class Filler {
 public:
  Filler(Tensor& t) : dtype_(t.dtype()), step_(t.item_size()), sizes_(t.sizes()), at_(t.raw()) {}

  void fill(Object* data, size_t dim = 0) {
    if (dim == sizes_.size()) {
      store_element(at_, dtype_, data);
      at_ += step_;
      return;
    }
    auto elements = Ref<Object>::steal(checked(PySequence_Fast(data, "not a sequence")));
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(elements.get());
    if (n != sizes_[dim]) fail_value("expected sequence of length ", sizes_[dim], " at dim ", dim, " (got ", n, ")");
    // The list may be changed by an element's conversion, so its size is read again.
    for (Py_ssize_t i = 0; i < n && i < PySequence_Fast_GET_SIZE(elements.get()); ++i) {
      Object* element = PySequence_Fast_GET_ITEM(elements.get(), i);
      if (dim + 1 < sizes_.size() || !store_plain(element)) fill(Ref<Object>::share(element).get(), dim + 1);
    }
  }

 private:
  /// The commonest elements: floats to float32 and ints to int64.
  bool store_plain(Object* element) {
    if (dtype_ == DType::Float32 && PyFloat_CheckExact(element)) {
      const float value = float(PyFloat_AS_DOUBLE(element));
      std::memcpy(at_, &value, sizeof value);
    } else if (dtype_ == DType::Int64 && PyLong_CheckExact(element)) {
      int overflow;
      const int64_t value = PyLong_AsLongLongAndOverflow(element, &overflow);
      if (overflow) return false;
      std::memcpy(at_, &value, sizeof value);
    } else {
      return false;
    }
    at_ += step_;
    return true;
  }

  DType dtype_;
  size_t step_;
  IntList sizes_;
  char* at_;
};

/// A list or tuple of nothing but floats, the commonest data; null for other data.
TensorRef from_flat_floats(Object* const* items, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!PyFloat_CheckExact(items[i])) return {};
  TensorRef result = empty({n}, DType::Float32);
  float* p = result->data<float>();
  for (Py_ssize_t i = 0; i < n; ++i) p[i] = float(PyFloat_AS_DOUBLE(items[i]));
  return result;
}

TensorRef from_nested(Object* data, const DType* dtype) {
  refuse_text(data);
  const Dims sizes = find_sizes(data);
  TensorRef result = empty(sizes, dtype ? *dtype : infer_dtype(data));
  if (result->numel() > 0) Filler(*result).fill(data);
  return result;
}

TensorRef copy(const Tensor& t, const DType* dtype) {
  TensorRef result = empty_like(t, dtype ? *dtype : t.dtype());
  copy_into(*result, t);
  return result;
}

}  // namespace

namespace {
TensorRef from_data(Object* data, const DType* dtype, const Device* device) {
  const bool on_meta = device && device->type == DeviceType::Meta;
  TensorRef result;
  if (!on_meta && (dtype ? *dtype : default_dtype) == DType::Float32) {
    if (PyList_CheckExact(data))
      result = from_flat_floats(reinterpret_cast<PyListObject*>(data)->ob_item, PyList_GET_SIZE(data));
    else if (PyTuple_CheckExact(data))
      result = from_flat_floats(reinterpret_cast<PyTupleObject*>(data)->ob_item, PyTuple_GET_SIZE(data));
    if (result) return result;
  }
  if (is_tensor(data)) {
    result = copy(tensor_of(data), dtype);
  } else if (is_numpy_array(data)) {
    result = copy(*tensor_from_numpy(data, false), dtype);
  } else {
    result = from_nested(data, dtype);
  }
  return on_meta ? empty(result->sizes(), result->dtype(), *device) : result;
}
}  // namespace

TensorRef tensor_from_data(Object* data, const DType* dtype, const Device* device) {
  TensorRef t = from_data(data, dtype, device);
  if (device && device->type == DeviceType::PrivateUse && t->device() != *device) {
    const ExcludeGuard below(bit(Key::Autograd));
    t = ops::_to_copy(*t, std::nullopt, *device);
  }
  if (tls.inference_mode) mark_inference(*t);
  return t;
}

}  // namespace vivace
