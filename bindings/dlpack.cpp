// Tensors to and from other libraries by DLPack, versions 0 and 1. The structs below are the ABI of its specification.
#include <algorithm>

#include "bindings/exports.h"
#include "bindings/keywords.h"
#include "bindings/memory.h"
#include "bindings/override.h"
#include "bindings/tables.h"
#include "runtime/dispatch/keys.h"

namespace vivace {

namespace {

struct DLDevice {
  int32_t type, id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
constexpr int32_t kCpuDevice = 1;
constexpr uint64_t kReadOnly = 1, kCopied = 2;

template <class Managed>
constexpr bool kVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
template <class Managed>
constexpr const char* kCapsule = kVersioned<Managed> ? "dltensor_versioned" : "dltensor";
template <class Managed>
constexpr const char* kUsedCapsule = kVersioned<Managed> ? "used_dltensor_versioned" : "used_dltensor";

Code code_of(DType t) {
  if (is_bool(t)) return kBool;
  if (t == DType::BFloat16) return kBfloat;
  if (is_complex(t)) return kComplex;
  if (is_floating(t)) return kFloat;
  return is_signed(t) ? kInt : kUInt;
}

DType dtype_of(DLDataType type) {
  if (type.lanes != 1) fail("from_dlpack(): types of several lanes are not supported");
  for (int i = 0; i < kNumDTypes; ++i)
    if (code_of(DType(i)) == type.code && 8 * item_size(DType(i)) == type.bits) return DType(i);
  fail("from_dlpack(): no dtype has DLPack code ", int(type.code), " and ", int(type.bits), " bits");
}

/// What an exported struct points into.
template <class Managed>
struct Export {
  Managed managed;
  Tensor* tensor;
  int64_t layout[2 * kMaxDims];
};

/// Runs in whatever thread the other library frees in; leaks when Python is on its way out.
template <class Managed>
void delete_export(Managed* managed) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* exported = static_cast<Export<Managed>*>(managed->context);
  Py_DECREF(exported->tensor);
  delete exported;
  PyGILState_Release(state);
}

template <class Managed>
void delete_capsule(Object* capsule) {
  if (!PyCapsule_IsValid(capsule, kCapsule<Managed>)) return;  // somebody took it
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsule<Managed>));
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
Object* export_tensor(TensorRef t, bool copied) {
  auto* exported = new Export<Managed>{};
  const int n = int(t->dim());
  std::copy_n(t->sizes().data(), n, exported->layout);
  std::copy_n(t->strides().data(), n, exported->layout + n);
  const DLDataType type = {code_of(t->dtype()), uint8_t(8 * t->item_size()), 1};
  Managed& managed = exported->managed;
  managed.tensor = {t->raw(), {kCpuDevice, 0}, n, type, exported->layout, exported->layout + n, 0};
  managed.context = exported;
  managed.deleter = delete_export<Managed>;
  if constexpr (kVersioned<Managed>) {
    managed.major = 1;
    managed.minor = 0;
    managed.flags = copied ? kCopied : 0;
  }
  exported->tensor = t.release();
  Object* capsule = PyCapsule_New(&managed, kCapsule<Managed>, delete_capsule<Managed>);
  if (!capsule) delete_export(&managed);
  return capsule;
}

void check_exportable(const Tensor& t) {
  if (t.keys & (bit(Key::NoData) | bit(Key::Vmap))) {
    PyErr_SetString(PyExc_BufferError, "Can't export a tensor that has no memory of its own");
    throw PythonError{};
  }
  if (t.requires_grad()) {
    PyErr_SetString(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
    throw PythonError{};
  }
  if (t.device().type != DeviceType::CPU) {
    PyErr_Format(PyExc_BufferError, "Can't export tensors of the %s device: their memory can't be read",
                 name(t.device().type));
    throw PythonError{};
  }
}

Object* tensor_dlpack(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&] {
    static constexpr Signature signature = {"__dlpack__", 1, 0, {"stream", "max_version", "dl_device", "copy"}};
    Object* a[4];
    sort_arguments(signature, args, nargs, keywords, a);
    auto t = TensorRef::share(&tensor_of(self));
    check_exportable(*t);
    if (int_argument("__dlpack__", "stream", a[0], -1) != -1) fail("__dlpack__(): tensors on the CPU have no stream");
    int64_t device = kCpuDevice, version = 0;
    if (a[2] && a[2] != Py_None && PyTuple_Check(a[2]) && PyTuple_GET_SIZE(a[2]) == 2)
      device = int_argument("__dlpack__", "dl_device", PyTuple_GET_ITEM(a[2], 0), kCpuDevice);
    if (device != kCpuDevice) {
      PyErr_SetString(PyExc_BufferError, "vivace exports tensors to the CPU only");
      throw PythonError{};
    }
    if (a[1] && PyTuple_Check(a[1]) && PyTuple_GET_SIZE(a[1]) == 2)
      version = int_argument("__dlpack__", "max_version", PyTuple_GET_ITEM(a[1], 0), 0);
    const bool copied = bool_argument("__dlpack__", "copy", a[3], false);
    if (copied) t = tensor_from_data(self, nullptr, nullptr);
    return version >= 1 ? export_tensor<DLManagedTensorVersioned>(std::move(t), copied)
                        : export_tensor<DLManagedTensor>(std::move(t), copied);
  });
}

Object* tensor_dlpack_device(Object*, Object*) { return Py_BuildValue("(ii)", kCpuDevice, 0); }

template <class Managed>
void release_import(void* context) {
  auto* managed = static_cast<Managed*>(context);
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
TensorRef import_capsule(Object* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsule<Managed>));
  if (!managed) throw PythonError{};
  if constexpr (kVersioned<Managed>)
    if (managed->major > 1) fail("from_dlpack(): DLPack version ", managed->major, " is not supported");
  if constexpr (kVersioned<Managed>)
    if (managed->flags & kReadOnly)
      warn(
          "The array is read-only, and tensors are not: writing to the tensor would change it anyway. "
          "Copy it first, with from_dlpack(..., copy=True).");
  const DLTensor& d = managed->tensor;
  if (d.device.type != kCpuDevice) fail("from_dlpack(): the data lies on a device that vivace does not have");
  if (d.ndim > kMaxDims) fail("from_dlpack(): more than ", kMaxDims, " dimensions");
  const DType dtype = dtype_of(d.dtype);
  const Dims sizes(IntList(d.shape, size_t(d.ndim)));
  const Dims strides = d.strides ? Dims(IntList(d.strides, size_t(d.ndim))) : contiguous_strides(sizes);
  for (int i = 0; i < strides.n; ++i)
    if (strides[i] < 0) fail("from_dlpack(): negative strides are not supported");
  char* data = static_cast<char*>(d.data) + d.byte_offset;
  const size_t nbytes = size_t(layout_extent(sizes, strides)) * item_size(dtype);
  checked(PyCapsule_SetName(capsule, kUsedCapsule<Managed>));
  return tensor_over(wrap_storage(data, nbytes, release_import<Managed>, managed), dtype, sizes, strides, 0);
}

struct Options {
  Object* copy;  // null: as the other library likes
  bool to_cpu;
};

/// The capsule of an object, asking for version 1 first.
Ref<Object> capsule_of(Object* source, const Options& wanted) {
  if (PyCapsule_CheckExact(source)) return Ref<Object>::share(source);
  const auto method = Ref<Object>::steal(PyObject_GetAttrString(source, "__dlpack__"));
  if (!method) {
    PyErr_Clear();
    fail_type("from_dlpack(): argument must have a __dlpack__ method, got ", Py_TYPE(source)->tp_name);
  }
  const auto none = Ref<Object>::steal(checked(PyTuple_New(0)));
  const auto options = Ref<Object>::steal(checked(Py_BuildValue("{s:(ii)}", "max_version", 1, 0)));
  if (wanted.copy) checked(PyDict_SetItemString(options.get(), "copy", wanted.copy));
  if (wanted.to_cpu) {
    const auto cpu = Ref<Object>::steal(checked(Py_BuildValue("(ii)", kCpuDevice, 0)));
    checked(PyDict_SetItemString(options.get(), "dl_device", cpu.get()));
  }
  auto capsule = Ref<Object>::steal(PyObject_Call(method.get(), none.get(), options.get()));
  if (!capsule && !wanted.copy && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = Ref<Object>::steal(PyObject_CallNoArgs(method.get()));
  }
  checked(capsule.get());
  return capsule;
}

TensorRef import_any(Object* source, const Options& options) {
  const Ref<Object> capsule = capsule_of(source, options);
  if (PyCapsule_IsValid(capsule.get(), kCapsule<DLManagedTensorVersioned>))
    return import_capsule<DLManagedTensorVersioned>(capsule.get());
  if (PyCapsule_IsValid(capsule.get(), kCapsule<DLManagedTensor>))
    return import_capsule<DLManagedTensor>(capsule.get());
  fail("from_dlpack received an invalid capsule. Note that a DLTensor capsule can be consumed only once.");
}

Object* from_dlpack(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {"from_dlpack", 1, 1, {"ext_tensor", "device", "copy"}};
    Object* a[3];
    sort_arguments(signature, args, nargs, keywords, a);
    const std::optional<Device> device = device_argument("from_dlpack", a[1]);
    Options options = {a[2] && a[2] != Py_None ? a[2] : nullptr, device.has_value()};
    TensorRef t = import_any(a[0], options);
    if (device && device->type != DeviceType::CPU) return tensor_from_data(t.object(), nullptr, &*device).release();
    return t.release();
  });
}

Object* to_dlpack(Object*, Object* tensor) {
  return guarded([&] { return tensor_dlpack(&tensor_argument("to_dlpack", "tensor", tensor), nullptr, 0, nullptr); });
}

}  // namespace

PyMethodDef kDlpackFunctions[] = {
    factory_function<"torch.from_dlpack", from_dlpack>(
        "from_dlpack(ext_tensor, *, device=None, copy=None) -> Tensor\n\nA tensor that shares the memory of another "
        "library's array, unless a copy is asked for."),
    {"to_dlpack", to_dlpack, METH_O, "to_dlpack(tensor) -> capsule"},
    kNoMethod,
};

PyMethodDef kDlpackMethods[] = {
    tensor_method<"__dlpack__", tensor_dlpack>(),
    tensor_method<"__dlpack_device__", tensor_dlpack_device>(METH_NOARGS),
    kNoMethod,
};

}  // namespace vivace
