// What an extension and vivace agree on: a versioned table of functions, which the capsule vivace._C._extension_api
// holds. The runtime fills it (bindings/extension_api.cpp); extensions link to nothing of vivace's.
// The table grows at its end. Changing or removing what stands here raises kVersion: extensions are then built anew.
// Functions need the GIL unless they say otherwise, throw nothing, and leave a Python exception where they fail.
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <cstddef>
#include <cstdint>

/// Of variables in headers: each extension has its own, whatever headers others were built with.
#define VIVACE_OWN [[gnu::visibility("hidden")]]

namespace vivace::abi {

inline constexpr uint32_t kVersion = 1;
inline constexpr const char* kCapsule = "vivace._C._extension_api";

enum class ScalarType : uint8_t {
  Bool,
  Byte,
  Char,
  Short,
  UInt16,
  Int,
  UInt32,
  Long,
  UInt64,
  Half,
  BFloat16,
  Float,
  Double,
  ComplexFloat,
  ComplexDouble,
};
enum class DeviceType : uint8_t { CPU, Meta, CUDA, PrivateUse1 };
enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

/// What a Value holds.
enum class Tag : uint8_t {
  None,
  Bool,
  Int,
  Float,
  Complex,
  Tensor,
  IntList,
  FloatList,
  ScalarList,
  TensorList,
  ScalarType,
  Device,
  Layout,
  MemoryFormat,
  String,
  Object,
};

/// An argument of an operator; borrowed. Items of a list of numbers are Values themselves.
struct Value {
  union {
    int64_t i;  // Bool, Int, ScalarType, Device (type | index << 8), Layout, MemoryFormat
    double f;   // Float; real part of Complex
    PyObject* object;
    PyObject* const* objects;  // null where there is no tensor
    const int64_t* ints;
    const double* floats;
    const Value* scalars;
    const char* chars;
  };
  union {
    double imag;
    int64_t count;  // of a list or string
  };
  Tag tag;
};

/// Where a tensor's elements lie. Strides count elements; what is pointed to stays until the tensor changes its layout.
struct Geometry {
  void* data;  // the first element; null if there is none or the device has no memory
  const int64_t* sizes;
  const int64_t* strides;
  int64_t ndim;
  int64_t numel;
  ScalarType dtype;
  DeviceType device_type;
  int8_t device_index;
  uint8_t contiguous;  // row-major, without gaps
};

enum class Mode : uint8_t {
  Grad,           // operators are recorded
  BelowAutograd,  // operators skip autograd
  BelowAutocast,  // and autocast
};

struct Operator;  // one of vivace's; never freed

/// A kernel: a new reference to its result, None if it has none; null with a Python exception.
using KernelFunction = PyObject* (*)(void* context, const Value* args);

// A signature is a letter per argument, `?` behind it if the argument is optional, then `>` and a letter per result:
// T Tensor, s Scalar, i int, f float, b bool, t str, I int[], F float[], S Scalar[], L Tensor[], X Tensor?[], d dtype,
// l layout, D device, m memory_format, g Generator, o another object.

struct Table {
  uint32_t version;
  uint32_t size;  // in bytes: tells which of the last members are there

  /// "aten::add.Tensor"; null with an exception if there is none that can be called so.
  const Operator* (*find_operator)(const char* qualname, const char* signature);
  /// Calls an operator as Python does: through autograd and all other layers. Missing last arguments have their
  /// defaults. A new reference.
  PyObject* (*call)(const Operator* op, const Value* args, int32_t count);
  int32_t (*is_tensor)(PyObject* object);
  /// `tensor` must be one.
  void (*geometry)(PyObject* tensor, Geometry* result);
  int32_t (*is_contiguous)(PyObject* tensor, MemoryFormat format);
  /// A tensor over memory that `deleter(context)` gives back; a null deleter does nothing.
  PyObject* (*from_memory)(void* data, const int64_t* sizes, const int64_t* strides, int32_t ndim, ScalarType dtype,
                           void (*deleter)(void*), void* context);
  /// What vivace.library.Library.impl takes for a kernel.
  PyObject* (*make_kernel)(KernelFunction function, void* context, const char* signature);
  /// Switches a mode of this thread; whether it was on.
  int32_t (*set_mode)(Mode mode, int32_t on);
  PyObject* (*wrap_dtype)(ScalarType dtype);
  /// False, without an exception, for another object.
  int32_t (*unwrap_dtype)(PyObject* object, ScalarType* result);
  PyObject* (*wrap_device)(DeviceType type, int32_t index);
  /// Strings are devices too.
  int32_t (*unwrap_device)(PyObject* object, DeviceType* type, int32_t* index);
  /// Python's numbers and NumPy's.
  int32_t (*unwrap_scalar)(PyObject* object, Value* result);
  /// f(context, begin, end) on parts of a range, in vivace's threads. f touches no object and throws nothing; the GIL
  /// may be free meanwhile.
  int32_t (*parallel_for)(int64_t begin, int64_t end, int64_t grain, void (*f)(void*, int64_t, int64_t), void* context);
  int32_t (*get_num_threads)();
};

}  // namespace vivace::abi
