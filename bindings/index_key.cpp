// Takes subscript keys apart; see index_key.h.
#include "bindings/index_key.h"

#include "runtime/dispatch/keys.h"

namespace vivace {

namespace {

/// PyTorch reads a list as a tuple of indices if it is short and holds anything but numbers.
bool reads_as_tuple(Object* key) {
  if (PyTuple_Check(key)) return true;
  if (!PyList_Check(key) || PyList_GET_SIZE(key) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); ++i) {
    Object* element = PyList_GET_ITEM(key, i);
    if (element == Py_None || element == Py_Ellipsis || PySlice_Check(element) || is_tensor(element) ||
        PySequence_Check(element)) {
      warn(
          "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; "
          "use x[tuple(seq)] instead of x[seq].");
      return true;
    }
  }
  return false;
}

[[noreturn]] void fail_index_type(Object* element) {
  fail_index("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
             Py_TYPE(element)->tp_name, ")");
}

int64_t slice_bound(Object* bound, int64_t fallback) {
  if (bound == Py_None) return fallback;
  if (PyLong_CheckExact(bound)) [[likely]] {
    int overflow;
    const int64_t value = PyLong_AsLongLongAndOverflow(bound, &overflow);
    return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : value;
  }
  if (!PyIndex_Check(bound)) fail_type("slice indices must be integers or None or have an __index__ method");
  auto number = Ref<Object>::steal(checked(PyNumber_Index(bound)));
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : value;
}

bool is_truth(const Tensor& t) { return is_bool(t.dtype()) || t.dtype() == DType::UInt8; }

}  // namespace

IndexKey::IndexKey(Object* key, int64_t ndim) : ndim_(ndim) {
  if (ndim == 0 && PySlice_Check(key)) fail_index("slice() cannot be applied to a 0-dim tensor.");
  if (ndim == 0 && PyLong_CheckExact(key))
    fail_index(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim "
        "tensor to a number");
  if (!reads_as_tuple(key)) {
    add(key);
  } else {
    auto elements = Ref<Object>::steal(checked(PySequence_Fast(key, "not a sequence")));
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(elements.get());
    if (n > kMaxDims) fail_index("too many indices: ", n);
    for (Py_ssize_t i = 0; i < n; ++i) add(PySequence_Fast_GET_ITEM(elements.get(), i));
  }
  if (named_dims_ > ndim) fail_index("too many indices for tensor of dimension ", ndim);
}

Index& IndexKey::push(Index::Kind kind) {
  Index& item = items_[count_++];
  item.kind = kind;
  return item;
}

void IndexKey::keep(TensorRef t, int ndim, bool unsqueezes) {
  Index& item = push(Index::Array);
  item.array = t.get();
  item.ndim = uint8_t(ndim);
  item.unsqueezes = unsqueezes;
  named_dims_ += ndim;
  has_arrays_ = true;
  made_.push_back(std::move(t));
}

void IndexKey::add(Object* element) {
  if (PyLong_CheckExact(element)) [[likely]] {
    int overflow;
    push(Index::Int).start = PyLong_AsLongLongAndOverflow(element, &overflow);
    if (overflow) fail_value("Overflow when unpacking long long");
    ++named_dims_;
  } else if (PySlice_Check(element)) {
    add_slice(element);
  } else if (element == Py_None) {
    push(Index::NewAxis);
  } else if (element == Py_Ellipsis) {
    push(Index::Ellipsis);
  } else if (is_tensor(element)) {
    add_tensor(tensor_of(element));
  } else if (PyBool_Check(element)) {
    add_truth(element == Py_True);
  } else {
    add_sequence(element);
  }
}

void IndexKey::add_slice(Object* slice) {
  const auto* s = reinterpret_cast<PySliceObject*>(slice);
  const int64_t step = slice_bound(s->step, 1);
  if (step == 0) fail_value("slice step cannot be zero");
  if (step < 0) fail_value("step must be greater than zero");
  Index& item = push(Index::Slice);
  item.step = step;
  item.start = slice_bound(s->start, 0);
  item.stop = slice_bound(s->stop, INT64_MAX);
  ++named_dims_;
}

void IndexKey::add_tensor(Tensor& t) {
  if (t.dim() > 0) {
    if (t.dtype() != DType::Int64 && t.dtype() != DType::Int32 && !is_truth(t))
      fail_index("tensors used as indices must be long, int, byte or bool tensors");
    if (t.dtype() == DType::UInt8)
      warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    keep(TensorRef::share(&t), is_truth(t) ? int(t.dim()) : 1, false);
  } else if (is_truth(t)) {
    add_truth(item(t).to_bool());
  } else if (t.keys & bit(Key::Vmap)) {
    keep(TensorRef::share(&t), 1, false);  // another number for each sample
  } else {
    if (!is_integral(t.dtype())) fail_index("tensors used as indices must be long, int, byte or bool tensors");
    push(Index::Int).start = item(t).to_int();
    ++named_dims_;
  }
}

/// True and False select all or nothing along a new dim.
void IndexKey::add_truth(bool value) {
  TensorRef indices = empty({value ? 1 : 0}, DType::Int64);
  if (value) *indices->data<int64_t>() = 0;
  keep(std::move(indices), 0, true);
}

void IndexKey::add_sequence(Object* element) {
  int64_t value;
  if (numpy_scalar_kind(element) == NumpyKind::Bool) {
    add_truth(PyObject_IsTrue(element) == 1);
  } else if (!PySequence_Check(element) || is_numpy_array(element)) {
    if (is_numpy_array(element)) {
      const TensorRef array = tensor_from_numpy(element, false);
      if (array->dim() == 0 || is_truth(*array) || array->dtype() == DType::Int64) {
        // Kept alive by `made_`, since a later element may be the last user of the array.
        made_.push_back(array);
        add_tensor(*array);
      } else {
        keep(to_dtype(*array, DType::Int64), 1, false);
      }
    } else if (unwrap_int(element, &value)) {
      push(Index::Int).start = value;
      ++named_dims_;
    } else {
      fail_index_type(element);
    }
  } else {
    TensorRef indices = tensor_from_data(element, nullptr, nullptr);
    if (!is_truth(*indices)) indices = to_dtype(*indices, DType::Int64);
    keep(indices, is_truth(*indices) ? int(indices->dim()) : 1, false);
  }
}

}  // namespace vivace
