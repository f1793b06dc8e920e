// NumPy arrays in and out without a copy, by the array interface: a capsule with a C struct describes memory, its owner
// is kept alive by whoever uses it. NumPy's C API is not used, and NumPy is imported only to make an array.
#include "bindings/exports.h"
#include "bindings/keywords.h"
#include "bindings/memory.h"
#include "bindings/override.h"
#include "bindings/tables.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/core/foreign_memory.h"
#include "runtime/dispatch/keys.h"

namespace vivace {

namespace {

/// The struct in an __array_struct__ capsule, as NumPy's documentation of the array interface has it.
struct ArrayStruct {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;  // in bytes
  void* data;
  Object* descr;
};
enum Flags { kAligned = 0x100, kNativeOrder = 0x200, kWriteable = 0x400 };

Ref<Object> attribute_of(Object* object, const char* name) {
  return Ref<Object>::steal(checked(PyObject_GetAttrString(object, name)));
}

/// `capsule` keeps the struct alive.
const ArrayStruct& struct_of(Object* capsule) {
  auto* a = static_cast<const ArrayStruct*>(PyCapsule_GetPointer(capsule, nullptr));
  if (!a) throw PythonError{};
  if (a->two != 2) fail_value("__array_struct__ has another version than this program knows");
  return *a;
}

char kind_of(DType t) {
  return is_bool(t) ? 'b' : is_complex(t) ? 'c' : is_floating(t) ? 'f' : is_signed(t) ? 'i' : 'u';
}

bool find_dtype(char kind, int size, DType* out) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType t = DType(i);
    if (t == DType::BFloat16 || kind_of(t) != kind || int(item_size(t)) != size) continue;
    *out = t;
    return true;
  }
  return false;
}

DType dtype_of(const ArrayStruct& a, Object* array) {
  DType dtype;
  if (find_dtype(a.typekind, a.itemsize, &dtype)) return dtype;
  const Ref<Object> name = attribute_of(attribute_of(attribute_of(array, "dtype").get(), "type").get(), "__name__");
  fail_type(
      "can't convert np.ndarray of type numpy.", PyUnicode_AsUTF8(name.get()),
      ". The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
      "uint64, uint32, uint16, uint8, and bool.");
}

/// Throws where no array may share t's memory.
void check_shareable(const Tensor& t) {
  if (t.device().type != DeviceType::CPU)
    fail_type("can't convert ", text_of(t.device()),
              " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  if (t.keys & bit(Key::Vmap)) fail("Cannot access data pointer of Tensor that doesn't have storage");
  if (t.keys & (bit(Key::NoData) | bit(Key::Python))) fail(".numpy() is not supported for tensor subclasses.");
  if (t.requires_grad() && tls.grad_mode && !tls.inference_mode)
    fail("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  if (t.dtype() == DType::BFloat16) fail_type("Got unsupported ScalarType BFloat16");
}

/// Attributes that a tensor may lack: what keeps NumPy from its memory is an AttributeError, so that hasattr() says so.
template <class F>
Object* attribute_or_reason(F&& f) {
  Object* value = guarded(std::forward<F>(f));
  if (value) return value;
  Object *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_Format(PyExc_AttributeError, "%S", error);
  for (Object* o : {type, error, traceback}) Py_XDECREF(o);
  return nullptr;
}

struct OwnedStruct {
  ArrayStruct header;
  Py_ssize_t layout[2 * kMaxDims];
};

void free_struct(Object* capsule) { delete static_cast<OwnedStruct*>(PyCapsule_GetPointer(capsule, nullptr)); }

Object* get_array_struct(Object* self, void*) {
  return attribute_or_reason([&] {
    const Tensor& t = tensor_of(self);
    check_shareable(t);
    auto* owned = new OwnedStruct;
    const int n = int(t.dim());
    for (int d = 0; d < n; ++d) {
      owned->layout[d] = t.sizes()[size_t(d)];
      owned->layout[n + d] = t.strides()[size_t(d)] * Py_ssize_t(t.item_size());
    }
    owned->header = {2,
                     n,
                     kind_of(t.dtype()),
                     int(t.item_size()),
                     kAligned | kNativeOrder | kWriteable,
                     owned->layout,
                     owned->layout + n,
                     t.raw(),
                     nullptr};
    Object* capsule = PyCapsule_New(owned, nullptr, free_struct);
    if (!capsule) delete owned;
    return capsule;
  });
}

Object* get_array_interface(Object* self, void*) {
  return attribute_or_reason([&]() -> Object* {
    const Tensor& t = tensor_of(self);
    check_shareable(t);
    Dims strides(t.strides());
    for (int64_t& s : strides) s *= int64_t(t.item_size());
    const std::string type = str(t.item_size() == 1 ? "|" : "<", std::string(1, kind_of(t.dtype())), t.item_size());
    return Py_BuildValue("{s:N,s:s,s:(NO),s:N,s:i}", "shape", wrap_tuple(t.sizes()), "typestr", type.c_str(), "data",
                         PyLong_FromVoidPtr(t.raw()), Py_False, "strides", wrap_tuple(strides), "version", 3);
  });
}

/// An ndarray over t's memory, with t as its base.
Ref<Object> share_with_numpy(Object* t) {
  check_shareable(tensor_of(t));
  static Object* const asarray =
      checked(PyObject_GetAttrString(Ref<Object>::steal(checked(PyImport_ImportModule("numpy"))).get(), "asarray"));
  return Ref<Object>::steal(checked(PyObject_CallOneArg(asarray, t)));
}

Object* tensor_numpy(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&] {
    static constexpr Signature signature = {"numpy", 0, 0, {"force"}};
    Object* force;
    sort_arguments(signature, args, nargs, keywords, &force);
    if (!bool_argument("numpy", "force", force, false)) return share_with_numpy(self).release();
    const TensorRef detached = alias(tensor_of(self));
    return share_with_numpy(detached.object()).release();
  });
}

Object* tensor_array(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&] {
    static constexpr Signature signature = {"__array__", 1, 0, {"dtype", "copy"}};
    Object* a[2];
    sort_arguments(signature, args, nargs, keywords, a);
    Ref<Object> array = share_with_numpy(self);
    if (a[0] && a[0] != Py_None) {
      const Ref<Object> astype = attribute_of(array.get(), "astype");
      const Ref<Object> arguments = Ref<Object>::steal(checked(PyTuple_Pack(1, a[0])));
      const Ref<Object> options = Ref<Object>::steal(checked(Py_BuildValue("{s:O}", "copy", Py_False)));
      array = Ref<Object>::steal(checked(PyObject_Call(astype.get(), arguments.get(), options.get())));
    }
    if (a[1] == Py_True) array = Ref<Object>::steal(checked(PyObject_CallMethod(array.get(), "copy", nullptr)));
    return array.release();
  });
}

/// What NumPy's functions of tensors return. Booleans come as bytes, as in PyTorch.
Object* tensor_array_wrap(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> Object* {
    if (nargs < 1) fail_type("__array_wrap__() missing 1 required positional argument: 'array'");
    TensorRef t = tensor_from_numpy(args[0], true);
    return is_bool(t->dtype()) ? to_dtype(*t, DType::UInt8).release() : t.release();
  });
}

Object* from_numpy(Object*, Object* array) {
  return guarded([&]() -> Object* {
    if (!is_numpy_array(array)) fail_type("expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
    TensorRef t = tensor_from_numpy(array, true);
    if (tls.inference_mode) mark_inference(*t);
    return t.release();
  });
}

}  // namespace

DType numpy_dtype(Object* array_or_scalar) {
  const Ref<Object> capsule = attribute_of(array_or_scalar, "__array_struct__");
  return dtype_of(struct_of(capsule.get()), array_or_scalar);
}

TensorRef tensor_from_numpy(Object* array, bool warn_readonly) {
  const Ref<Object> capsule = attribute_of(array, "__array_struct__");
  const ArrayStruct& a = struct_of(capsule.get());
  const DType dtype = dtype_of(a, array);
  if (!(a.flags & kNativeOrder))
    fail_value(
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
        "currently not supported.");
  if (a.nd > kMaxDims) fail_value("arrays of more than ", kMaxDims, " dimensions are not supported");
  Dims sizes, strides;
  for (int d = 0; d < a.nd; ++d) {
    if (a.strides[d] < 0)
      fail_value(
          "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
          "currently supported. (You can probably work around this by making a copy of your array  with "
          "array.copy().) ");
    if (a.strides[d] % a.itemsize != 0)
      fail_value(
          "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
          "memory.");
    sizes.push(a.shape[d]);
    strides.push(a.strides[d] / a.itemsize);
  }
  if (warn_readonly && !(a.flags & kWriteable))
    warn(
        "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. "
        "This means writing to this tensor will result in undefined behavior. You may want to copy "
        "the array to protect its data or make it writable before converting it to a tensor.");
  const size_t nbytes = size_t(layout_extent(sizes, strides)) * size_t(a.itemsize);
  return tensor_over(wrap_storage(a.data, nbytes, release_object, Py_NewRef(array)), dtype, sizes, strides, 0);
}

PyMethodDef kNumpyFunctions[] = {
    {"from_numpy", from_numpy, METH_O, "from_numpy(array) -> Tensor\n\nA tensor that shares the array's memory."},
    kNoMethod,
};

PyMethodDef kNumpyMethods[] = {
    tensor_method<"numpy", tensor_numpy>(
        "numpy(*, force=False) -> numpy.ndarray\n\nAn array that shares the tensor's memory; with force, "
        "also of a tensor that requires grad."),
    tensor_method<"__array__", tensor_array>(),
    fast_function("__array_wrap__", tensor_array_wrap, nullptr),
    kNoMethod,
};

PyGetSetDef kNumpyGetSets[] = {
    attribute("__array_struct__", get_array_struct),
    attribute("__array_interface__", get_array_interface),
    attribute("__array_priority__", [](Object*, void*) { return PyLong_FromLong(1000); }),
    kNoAttribute,
};

}  // namespace vivace
