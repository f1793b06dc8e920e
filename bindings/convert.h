// Small Python values and C++ values, both ways. `unwrap_X(object, &out)` returns false, with no exception set, where
// the object is of another type (so that the next overload may be tried), and throws where the type is right and the
// value is not. `wrap` returns a new reference.
#pragma once
#include "bindings/guard.h"
#include "runtime/core/promote.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

// ---- torch.dtype, torch.device, torch.layout, torch.memory_format: immutable; dtypes, layouts and formats are
// singletons

struct DTypeObject : Object {
  DType value;
};
struct DeviceObject : Object {
  uint8_t kind;  // place in PyTorch's list of device types; DeviceType's come first
  int8_t index;  // -1: none given
};

enum class Layout : uint8_t { Strided, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Mkldnn, Jagged };
inline constexpr int kNumLayouts = 8;
inline constexpr int kNumMemoryFormats = 4;

extern PyTypeObject dtype_type, device_type, layout_type, memory_format_type, size_type, finfo_type, iinfo_type;
extern DTypeObject dtype_objects[kNumDTypes];

inline bool is_dtype(Object* o) { return Py_IS_TYPE(o, &dtype_type); }
inline bool is_device(Object* o) { return Py_IS_TYPE(o, &device_type); }
inline bool is_size(Object* o) { return Py_IS_TYPE(o, &size_type); }

inline Object* wrap(DType t) { return Py_NewRef(&dtype_objects[int(t)]); }
Object* wrap(Device device);
Object* wrap(Layout layout);
Object* wrap(MemoryFormat format);
/// int, float, bool or complex; None for no value.
Object* wrap(const Scalar& scalar);
/// A torch.Size.
Object* wrap_size(IntList sizes);
/// A tuple of ints.
Object* wrap_tuple(IntList values);

/// torch.dtype, or the classes bool, int, float, complex.
bool unwrap_dtype(Object* object, DType* out);
/// torch.device or a string; an int stands for an accelerator. Throws for a device that does not exist here.
bool unwrap_device(Object* object, Device* out);
/// Where this thread makes tensors if no device is named.
Device default_device();
bool unwrap_layout(Object* object, Layout* out);
bool unwrap_memory_format(Object* object, MemoryFormat* out);

// ---- numbers: NumPy's scalars are recognised without importing NumPy

/// bool, int, float, complex and NumPy's scalars.
bool unwrap_scalar_slow(Object* object, Scalar* out);
inline bool unwrap_scalar(Object* object, Scalar* out) {
  if (PyFloat_CheckExact(object)) [[likely]] {
    *out = Scalar(PyFloat_AS_DOUBLE(object));
    return true;
  }
  return unwrap_scalar_slow(object, out);
}
/// Anything with __index__ but bool: int, NumPy's integers, 0-dim (one-element) integer tensors.
bool unwrap_int_slow(Object* object, int64_t* out);
inline bool unwrap_int(Object* object, int64_t* out) {
  if (PyLong_CheckExact(object)) [[likely]] {
    *out = PyLong_AsLongLong(object);
    if (*out != -1) [[likely]]
      return true;
  }
  return unwrap_int_slow(object, out);
}
/// int, float and their NumPy kin; one-element tensors.
bool unwrap_double(Object* object, double* out);
/// bool and numpy.bool; nothing else.
bool unwrap_bool(Object* object, bool* out);
/// A list or tuple of ints (torch.Size included). At most kMaxDims of them.
bool unwrap_ints(Object* object, Dims* out);
/// `f(2, 3)` or `f((2, 3))`: the ints among n positional arguments.
bool unwrap_ints(Object* const* args, Py_ssize_t n, Dims* out);

enum class NumpyKind : uint8_t { None, Bool, Int, Float, Complex };
/// What kind of NumPy scalar an object is.
NumpyKind numpy_scalar_kind(Object* object);
/// NumPy is loaded and the object is an ndarray.
bool is_numpy_array(Object* object);

// ---- single elements

/// The element at p as a Python number.
Object* element_to_python(const char* p, DType dtype);
/// Writes a number into the element at p, as C converts; throws for values that don't fit an integer type.
void store_element(char* p, DType dtype, Object* number);
/// The only element of t as a Scalar. Throws if t has another number of elements.
Scalar item(const Tensor& t);

// ---- conversions that make tensors

/// A new tensor of nested sequences, a number, an array or a tensor; without dtype, PyTorch's rules find one. Copies
/// always; autograd does not see it.
TensorRef tensor_from_data(Object* data, const DType* dtype, const Device* device);
/// A tensor over an ndarray's memory, which it keeps alive. Throws for arrays that no tensor can describe.
TensorRef tensor_from_numpy(Object* array, bool warn_readonly);
/// The dtype of an ndarray or of a NumPy scalar.
DType numpy_dtype(Object* array_or_scalar);

}  // namespace vivace
