// torch.dtype and what is asked of element types: aliases, promotion, the default dtype.
// The objects are static and live for ever; they are pickled by name.
#include "bindings/convert.h"
#include "bindings/init.h"
#include "bindings/tables.h"

namespace vivace {

DTypeObject dtype_objects[kNumDTypes];

namespace {

DType value_of(Object* self) { return reinterpret_cast<DTypeObject*>(self)->value; }

constexpr struct {
  const char* name;
  DType dtype;
} kAliases[] = {
    {"half", DType::Float16}, {"float", DType::Float32}, {"double", DType::Float64},   {"short", DType::Int16},
    {"int", DType::Int32},    {"long", DType::Int64},    {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128},
};

constexpr const char* kAbbreviations[kNumDTypes] = {"b8",  "u8",  "i8",   "i16", "u16", "i32", "u32", "i64",
                                                    "u64", "f16", "bf16", "f32", "f64", "c64", "c128"};

Object* dtype_repr(Object* self) { return PyUnicode_FromFormat("torch.%s", name(value_of(self))); }

Object* dtype_reduce(Object* self, Object*) { return PyUnicode_FromString(name(value_of(self))); }

Object* dtype_to_real(Object* self, Object*) { return wrap(real_of(value_of(self))); }

Object* dtype_to_complex(Object* self, Object*) {
  return guarded([&] {
    const DType t = value_of(self);
    if (!is_floating(t) && !is_complex(t)) fail("to_complex(): no complex type belongs to ", t);
    return wrap(complex_of(t));
  });
}

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_real", dtype_to_real, METH_NOARGS, "The real type that belongs to this type."},
    {"to_complex", dtype_to_complex, METH_NOARGS, "The complex type that belongs to this type."},
    kNoMethod,
};

PyGetSetDef dtype_attributes[] = {
    attribute("itemsize", [](Object* self, void*) { return PyLong_FromSize_t(item_size(value_of(self))); }),
    attribute("is_floating_point", [](Object* self, void*) { return PyBool_FromLong(is_floating(value_of(self))); }),
    attribute("is_complex", [](Object* self, void*) { return PyBool_FromLong(is_complex(value_of(self))); }),
    attribute("is_signed", [](Object* self, void*) { return PyBool_FromLong(is_signed(value_of(self))); }),
    attribute("abbr", [](Object* self, void*) { return PyUnicode_FromString(kAbbreviations[int(value_of(self))]); }),
    attribute("__module__", [](Object*, void*) { return PyUnicode_FromString("vivace"); }),
    kNoAttribute,
};

PyTypeObject make_dtype_type() {
  PyTypeObject type = plain_type("torch.dtype", sizeof(DTypeObject), Py_TPFLAGS_DISALLOW_INSTANTIATION);
  type.tp_doc = "The type of a tensor's elements.";
  type.tp_repr = dtype_repr;
  type.tp_methods = dtype_methods;
  type.tp_getset = dtype_attributes;
  return type;
}

}  // namespace

PyTypeObject dtype_type = make_dtype_type();

bool unwrap_dtype(Object* object, DType* out) {
  if (is_dtype(object)) [[likely]] {
    *out = value_of(object);
    return true;
  }
  if (!PyType_Check(object)) return false;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (type == &PyFloat_Type) {
    *out = DType::Float64;
  } else if (type == &PyLong_Type) {
    *out = DType::Int64;
  } else if (type == &PyBool_Type) {
    *out = DType::Bool;
  } else if (type == &PyComplex_Type) {
    *out = DType::Complex128;
  } else {
    return false;
  }
  return true;
}

void init_dtypes(Object* module) {
  checked(PyType_Ready(&dtype_type));
  for (int i = 0; i < kNumDTypes; ++i) {
    dtype_objects[i].value = DType(i);
    auto* object = PyObject_Init(&dtype_objects[i], &dtype_type);
    checked(PyModule_AddObjectRef(module, kDTypeName[i], object));
  }
  for (const auto& alias : kAliases)
    checked(PyModule_AddObjectRef(module, alias.name, &dtype_objects[int(alias.dtype)]));
  checked(PyModule_AddObjectRef(module, "dtype", reinterpret_cast<Object*>(&dtype_type)));
}

}  // namespace vivace
