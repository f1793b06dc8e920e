// From tensors to Python numbers and lists: item, tolist, int(t), len(t), iter(t), x in t.
#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/override.h"
#include "bindings/tables.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/view.h"
#include "runtime/composite/value.h"

namespace vivace {

namespace {

/// Throws unless t has one element with a value.
void check_only_element(const Tensor& t) {
  if (t.numel() != 1) [[unlikely]]
    fail("a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  if (t.is_meta()) [[unlikely]]
    fail("Tensor.item() cannot be called on meta tensors");
}

/// The only element as a Python number.
Object* only_element(const Tensor& t) {
  check_only_element(t);
  return is_foreign(t.keys) ? wrap(value_of(t)) : element_to_python(t.raw(), t.dtype());
}

/// For the conversions that Python asks for by itself: another type of error.
Object* only_number(const Tensor& t) {
  if (t.numel() != 1) fail_value("only one element tensors can be converted to Python scalars");
  return only_element(t);
}

Object* list_of(const Tensor& t, int dim, const char* p) {
  if (dim == t.dim()) return checked(element_to_python(p, t.dtype()));
  const int64_t n = t.sizes()[dim], step = t.numel() == 0 || n == 1 ? 0 : t.strides()[dim] * int64_t(t.item_size());
  auto list = Ref<Object>::steal(checked(PyList_New(n)));
  for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(list.get(), i, list_of(t, dim + 1, p + i * step));
  return list.release();
}

Object* tensor_item(Object* self, Object*) {
  return guarded([&] { return only_element(tensor_of(self)); });
}

Object* tensor_tolist(Object* self, Object*) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    if (t.is_meta()) fail_not_implemented("Cannot copy out of meta tensor; no data!");
    if (!(t.keys & kMemoryKeys)) return list_of(t, 0, t.raw());
    const TensorRef here = ops::_to_copy(const_cast<Tensor&>(t), std::nullopt, Device{});
    if (here->keys & bit(Key::Vmap)) fail("Cannot access data pointer of Tensor that doesn't have storage");
    if (here->keys & bit(Key::NoData))
      fail(".tolist() is not supported for tensor subclasses, got ", Py_TYPE(self)->tp_name);
    return list_of(*here, 0, here->raw());
  });
}

Object* tensor_complex(Object* self, Object*) {
  return guarded([&] {
    auto number = Ref<Object>::steal(checked(only_number(tensor_of(self))));
    const Py_complex value = PyComplex_AsCComplex(number.get());
    if (value.real == -1 && PyErr_Occurred()) throw PythonError{};
    return PyComplex_FromCComplex(value);
  });
}

/// A 0-dim tensor is formatted as its number, others as objects are.
Object* tensor_format(Object* self, Object* specification) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    if (t.dim() > 0 || t.is_meta()) {
      static Object* const format =
          checked(PyObject_GetAttrString(reinterpret_cast<Object*>(&PyBaseObject_Type), "__format__"));
      return PyObject_CallFunctionObjArgs(format, self, specification, nullptr);
    }
    auto number = Ref<Object>::steal(checked(only_element(t)));
    return PyObject_Format(number.get(), specification);
  });
}

Object* tensor_is_nonzero(Object* self, Object*) {
  const int truth = tensor_bool(self);
  return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

/// The number, a complex one without imaginary part as a float.
Object* real_number(const Tensor& t, const char* target) {
  auto number = Ref<Object>::steal(checked(only_number(t)));
  if (!is_complex(t.dtype())) return number.release();
  if (PyComplex_ImagAsDouble(number.get()) != 0)
    fail("value cannot be converted to type ", target, " without overflow");
  return PyFloat_FromDouble(PyComplex_RealAsDouble(number.get()));
}

}  // namespace

Scalar item(const Tensor& t) {
  check_only_element(t);
  return value_of(t);
}

int tensor_bool(Object* self) {
  return guarded_or(-1, [&] {
    const Tensor& t = tensor_of(self);
    if (t.numel() == 0) fail("Boolean value of Tensor with no values is ambiguous");
    if (t.numel() > 1) fail("Boolean value of Tensor with more than one value is ambiguous");
    if (t.keys & bit(Key::Vmap))
      fail(
          "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
          "that yet, please file an issue at https://github.com/pytorch/pytorch/issues .");
    return int(item(t).to_bool());
  });
}

Object* tensor_int(Object* self) {
  return guarded([&] {
    auto number = Ref<Object>::steal(real_number(tensor_of(self), "int64_t"));
    return PyNumber_Long(number.get());
  });
}

Object* tensor_float(Object* self) {
  return guarded([&] {
    auto number = Ref<Object>::steal(real_number(tensor_of(self), "double"));
    return PyNumber_Float(number.get());
  });
}

Object* tensor_index(Object* self) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    if (t.numel() != 1 || !(is_integral(t.dtype()) || is_bool(t.dtype())))
      fail_type("only integer tensors of a single element can be converted to an index");
    auto number = Ref<Object>::steal(checked(only_element(t)));
    return PyNumber_Long(number.get());
  });
}

Py_ssize_t tensor_length(Object* self) {
  const Tensor& t = tensor_of(self);
  if (t.dim() > 0) [[likely]]
    return Py_ssize_t(t.sizes()[0]);
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

Object* tensor_iter(Object* self) {
  return guarded([&] {
    Tensor& t = tensor_of(self);
    if (t.dim() == 0) fail_type("iteration over a 0-d tensor");
    if (is_overridden(self)) {
      auto parts = Ref<Object>::steal(checked(PyObject_CallMethod(self, "unbind", "i", 0)));
      return PyObject_GetIter(parts.get());
    }
    const std::vector<TensorRef> parts = ops::unbind_int(t, 0);
    auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(parts.size()))));
    for (size_t i = 0; i < parts.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), Py_NewRef(parts[i].object()));
    return PyObject_GetIter(tuple.get());
  });
}

int tensor_contains(Object* self, Object* element) {
  return guarded_or(-1, [&] {
    Scalar scalar;
    TensorRef equal;
    if (is_tensor(element)) {
      equal = ops::eq_Tensor(tensor_of(self), tensor_of(element));
    } else if (unwrap_scalar(element, &scalar)) {
      equal = ops::eq_Scalar(tensor_of(self), scalar);
    } else {
      fail("Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class '",
           Py_TYPE(element)->tp_name, "'>.");
    }
    return int(item(*ops::any(*equal)).to_bool());
  });
}

PyMethodDef kItemMethods[] = {
    tensor_method<"item", tensor_item>(METH_NOARGS, "item() -> number\n\nThe only element as a Python number."),
    tensor_method<"tolist", tensor_tolist>(METH_NOARGS, "tolist() -> list or number\n\nThe elements as nested lists."),
    tensor_method<"is_nonzero", tensor_is_nonzero>(METH_NOARGS,
                                                   "is_nonzero() -> bool\n\nWhether the only element is not zero."),
    tensor_method<"__format__", tensor_format>(METH_O),
    tensor_method<"__complex__", tensor_complex>(METH_NOARGS),
    kNoMethod,
};

}  // namespace vivace
