// torch.Tensor(...), torch.LongTensor(...): constructors from before torch.tensor.
#include "bindings/exports.h"
#include "bindings/keywords.h"
#include "generated/ops/view/regroup.h"

namespace vivace {

namespace {

TensorRef from_data(DType dtype, Object* data, bool any_dtype) {
  if (is_tensor(data)) {
    auto& t = tensor_of(data);
    if (!any_dtype && t.dtype() != dtype)
      fail_type(scalar_type_name(dtype), "Tensor() expects a tensor of ", dtype, " (got ", t.dtype(), ")");
    return ops::alias(t);
  }
  if (PyUnicode_Check(data)) fail_type("new(): invalid data type 'str'");
  if (!PySequence_Check(data)) fail_type("new(): data must be a sequence (got ", Py_TYPE(data)->tp_name, ")");
  return tensor_from_data(data, &dtype, nullptr);
}

}  // namespace

Object* legacy_tensor_new(DType dtype, Object* args, Object* kwargs, bool any_dtype) {
  return guarded([&]() -> Object* {
    Object *const *given = reinterpret_cast<PyTupleObject*>(args)->ob_item, *data = nullptr;
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    Object *keyword, *value;
    Py_ssize_t at = 0;
    while (kwargs && PyDict_Next(kwargs, &at, &keyword, &value)) {
      if (PyUnicode_CompareWithASCIIString(keyword, "device") == 0) {
        const auto device = device_argument("new", value);
        if (device && device->type != DeviceType::CPU)
          fail("legacy constructor expects device type: cpu but device type: ", name(device->type), " was passed");
      } else if (PyUnicode_CompareWithASCIIString(keyword, "data") == 0 && n == 0) {
        data = value;
      } else {
        fail_type("new() received an invalid keyword argument '", PyUnicode_AsUTF8(keyword), "'");
      }
    }
    if (!data && n == 1 && (!PyLong_Check(given[0]) || PyBool_Check(given[0])) && !is_size(given[0]) &&
        numpy_scalar_kind(given[0]) != NumpyKind::Int)
      data = given[0];
    if (data && PyObject_HasAttrString(data, "_elements")) {  // a TypedStorage
      auto elements = Ref<Object>::steal(checked(PyObject_CallMethod(data, "_elements", nullptr)));
      return from_data(dtype, elements.get(), any_dtype).release();
    }
    if (data) return from_data(dtype, data, any_dtype).release();
    Dims sizes;
    if (n == 0) return empty({0}, dtype).release();
    if (n == 1 && is_size(given[0])) {
      unwrap_ints(given[0], &sizes);
    } else {
      for (Py_ssize_t i = 0; i < n; ++i) {
        int64_t size;
        if (!unwrap_int(given[i], &size))
          fail_type("new(): argument 'size' failed to unpack the object at pos ", i + 1,
                    " with error \"type must be tuple of ints,but got ", Py_TYPE(given[i])->tp_name, "\"");
        sizes.push(size);
      }
    }
    for (const int64_t size : sizes)
      if (size < 0) fail("Trying to create tensor with negative dimension ", size, ": ", IntList(sizes));
    return empty(sizes, dtype).release();
  });
}

}  // namespace vivace
