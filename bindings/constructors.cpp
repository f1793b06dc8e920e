// torch.tensor, as_tensor, asarray, frombuffer: tensors from what Python has.
#include <memory>

#include "bindings/exports.h"
#include "bindings/keywords.h"
#include "bindings/memory.h"
#include "bindings/override.h"
#include "bindings/python_dispatch.h"
#include "bindings/tables.h"
#include "runtime/autograd/grad.h"

namespace vivace {

namespace {

template <class T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

Object* finish(TensorRef t, bool requires_grad) {
  if (requires_grad) set_requires_grad(*t, true);
  return t.release();
}

/// t.to(dtype, device), seen by autograd; t itself if there is nothing to do.
TensorRef convert(Tensor& t, std::optional<DType> dtype, std::optional<Device> device) {
  TensorRef result = TensorRef::share(&t);
  auto to = [&](Object* target) {
    auto argument = Ref<Object>::steal(checked(target));
    auto method = Ref<Object>::steal(checked(PyUnicode_InternFromString("to")));
    Object* converted = checked(PyObject_CallMethodOneArg(result.object(), method.get(), argument.get()));
    result = TensorRef::steal(&tensor_of(converted));
  };
  if (dtype && *dtype != t.dtype()) to(wrap(*dtype));
  if (device && *device != t.device()) to(wrap(*device));
  return result;
}

/// A 0-dim tensor or an ndarray from NumPy, or a tensor, as it is; null for other objects.
TensorRef without_copy(Object* data) {
  if (is_tensor(data)) return TensorRef::share(&tensor_of(data));
  if (is_numpy_array(data)) return tensor_from_numpy(data, true);
  return {};
}

/// The device that was named, or else the default one if it is not the CPU, where data comes from.
std::optional<Device> device_or_default(const char* function, Object* value) {
  std::optional<Device> device = device_argument(function, value);
  if (!device && default_device().type != DeviceType::CPU) device = default_device();
  return device;
}

void refuse_pinning(const char* function, Object* pin_memory) {
  if (bool_argument(function, "pin_memory", pin_memory, false))
    fail("pin_memory=True requires a CUDA or other accelerator backend; vivace runs on the CPU.");
}

Object* tensor(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    if (nargs == 1 && !keywords && !is_tensor(args[0])) [[likely]] {
      const Device device = default_device();
      return lifted(tensor_from_data(args[0], nullptr, &device)).release();
    }
    static constexpr Signature signature = {"tensor", 1, 1, {"data", "dtype", "device", "requires_grad", "pin_memory"}};
    Object* a[5];
    sort_arguments(signature, args, nargs, keywords, a);
    const auto dtype = dtype_argument("tensor", a[1]);
    const Device device = device_argument("tensor", a[2]).value_or(default_device());
    const bool requires_grad = bool_argument("tensor", "requires_grad", a[3], false);
    refuse_pinning("tensor", a[4]);
    if (is_tensor(a[0]))
      warn(
          "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
          "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).");
    return finish(lifted(tensor_from_data(a[0], pointer(dtype), &device)), requires_grad);
  });
}

Object* as_tensor(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {"as_tensor", 3, 1, {"data", "dtype", "device"}};
    Object* a[3];
    sort_arguments(signature, args, nargs, keywords, a);
    const auto dtype = dtype_argument("as_tensor", a[1]);
    const std::optional<Device> device = device_or_default("as_tensor", a[2]);
    if (const TensorRef same = without_copy(a[0])) return convert(*same, dtype, device).release();
    return lifted(tensor_from_data(a[0], pointer(dtype), pointer(device))).release();
  });
}

/// Holds a buffer while a storage uses it.
void release_buffer(void* context) {
  auto* view = static_cast<Py_buffer*>(context);
  PyBuffer_Release(view);
  delete view;
}

TensorRef from_buffer(Object* buffer, DType dtype, int64_t count, int64_t offset) {
  auto view = std::make_unique<Py_buffer>();
  bool writable = true;
  if (PyObject_GetBuffer(buffer, view.get(), PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    checked(PyObject_GetBuffer(buffer, view.get(), PyBUF_SIMPLE));
    writable = false;
  }
  Storage* storage = wrap_storage(view->buf, size_t(view->len), release_buffer, view.get());
  const int64_t length = view.release()->len, item = int64_t(item_size(dtype));
  TensorRef owner = tensor_over(storage, dtype, IntList(), IntList(), 0);
  if (length == 0 || count == 0) fail_value("both buffer length (", length, ") and count (", count, ") must not be 0");
  if (offset < 0 || offset >= length)
    fail_value("offset (", offset, " bytes) must be non-negative and no greater than buffer length (", length,
               " bytes) minus 1");
  if (count > 0 && offset + count * item > length)
    fail_value("requested buffer length (", count, " * ", item, " bytes) after offset (", offset,
               " bytes) must not be greater than actual buffer length (", length, " bytes)");
  if (count < 0 && (length - offset) % item != 0)
    fail_value("buffer length (", length - offset, " bytes) after offset (", offset,
               " bytes) must be a multiple of element size (", item, ")");
  if (!writable)
    warn(
        "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write "
        "to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to "
        "protect its data or make it writable before converting it to a tensor.");
  const int64_t n = count > 0 ? count : (length - offset) / item, one = 1;
  set_layout(*owner, {&n, 1}, {&one, 1}, 0);
  owner->data_ += offset;
  return owner;
}

Object* frombuffer(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {
        "frombuffer", 1, 2, {"buffer", "dtype", "count", "offset", "requires_grad"}};
    Object* a[5];
    sort_arguments(signature, args, nargs, keywords, a);
    const auto dtype = dtype_argument("frombuffer", a[1]);
    if (!dtype) fail_type("frombuffer(): argument 'dtype' must be torch.dtype, not NoneType");
    if (!PyObject_CheckBuffer(a[0])) fail_value("object does not implement Python buffer protocol.");
    TensorRef t = from_buffer(a[0], *dtype, int_argument("frombuffer", "count", a[2], -1),
                              int_argument("frombuffer", "offset", a[3], 0));
    return finish(std::move(t), bool_argument("frombuffer", "requires_grad", a[4], false));
  });
}

/// What asarray may alias; null where the data has to be copied.
TensorRef alias_of(Object* data, std::optional<DType> dtype) {
  if (TensorRef same = without_copy(data)) return same;
  if (PyObject_CheckBuffer(data) && numpy_scalar_kind(data) == NumpyKind::None) {
    if (PyObject_Size(data) == 0) return empty({0}, dtype.value_or(default_dtype));  // nothing to share
    PyErr_Clear();
    return from_buffer(data, dtype.value_or(default_dtype), -1, 0);
  }
  return {};
}

Object* asarray(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {"asarray", 1, 1, {"obj", "dtype", "device", "copy", "requires_grad"}};
    Object* a[5];
    sort_arguments(signature, args, nargs, keywords, a);
    const auto dtype = dtype_argument("asarray", a[1]);
    const std::optional<Device> device = device_or_default("asarray", a[2]);
    const bool always_copy = bool_argument("asarray", "copy", a[3], false);
    const bool never_copy = a[3] && a[3] != Py_None && !always_copy;
    const bool given = a[4] && a[4] != Py_None;
    const bool requires_grad = bool_argument("asarray", "requires_grad", a[4], false);
    TensorRef result = alias_of(a[0], dtype);
    if (!result) {
      if (never_copy) fail_value("can't alias arbitrary sequence into a tensor.");
      result = tensor_from_data(a[0], pointer(dtype), pointer(device));
    } else if (always_copy) {
      result = tensor_from_data(result.object(), pointer(dtype), pointer(device));
    } else {
      if (never_copy && dtype && *dtype != result->dtype())
        fail_value("can't alias tensor with dtype '", result->dtype(), "' into dtype '", *dtype, "'.");
      if (never_copy && device && *device != result->device()) fail_value("can't alias tensor into another device.");
      result = convert(*result, dtype, device);
      if (result->requires_grad() && given && !requires_grad) result = alias(*result);
    }
    return finish(std::move(result), requires_grad);
  });
}

/// t.new_tensor(data): a tensor of t's dtype unless told otherwise.
Object* new_tensor(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {
        "new_tensor", 1, 1, {"data", "dtype", "device", "requires_grad", "layout", "pin_memory"}};
    Object* a[6];
    sort_arguments(signature, args, nargs, keywords, a);
    const Tensor& t = tensor_of(self);
    const DType dtype = dtype_argument("new_tensor", a[1]).value_or(t.dtype());
    const Device device = device_argument("new_tensor", a[2]).value_or(t.device());
    refuse_pinning("new_tensor", a[5]);
    return finish(tensor_from_data(a[0], &dtype, &device), bool_argument("new_tensor", "requires_grad", a[3], false));
  });
}

/// t.new(...): the constructor of old, for t's dtype.
Object* new_legacy(Object* self, Object* args, Object* kwargs) {
  return legacy_tensor_new(tensor_of(self).dtype(), args, kwargs, false);
}

/// _typed_new(dtype, args, kwargs): what torch.FloatTensor(*args, **kwargs) and its kin make.
Object* typed_new(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    DType dtype;
    if (nargs != 3 || !unwrap_dtype(args[0], &dtype)) fail_type("_typed_new expects a dtype, a tuple and a dict");
    return legacy_tensor_new(dtype, args[1], args[2], false);
  });
}

}  // namespace

PyMethodDef kConstructorMethods[] = {
    tensor_method<"new_tensor", new_tensor>(
        "new_tensor(data, *, dtype=None, device=None, requires_grad=False) -> Tensor\n\n"
        "A new tensor of data, with the dtype and device of this one."),
    {"new", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(new_legacy)), METH_VARARGS | METH_KEYWORDS,
     "new(*sizes) or new(data) -> Tensor\n\nA new tensor with the dtype of this one."},
    kNoMethod,
};

PyMethodDef kConstructorFunctions[] = {
    fast_function("_typed_new", typed_new, nullptr),
    factory_function<"torch.tensor", tensor>(
        "tensor(data, *, dtype=None, device=None, requires_grad=False) -> Tensor\n\n"
        "A new tensor of numbers, nested sequences or arrays; data is copied."),
    factory_function<"torch.as_tensor", as_tensor>(
        "as_tensor(data, dtype=None, device=None) -> Tensor\n\n"
        "data as a tensor, sharing memory and history where that is possible."),
    factory_function<"torch.asarray", asarray>(
        "asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> Tensor\n\n"
        "obj as a tensor, sharing memory unless a copy is asked for or needed."),
    factory_function<"torch.frombuffer", frombuffer>(
        "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> Tensor\n\n"
        "A 1-dim tensor over the memory of an object with the buffer protocol."),
    kNoMethod,
};

}  // namespace vivace
