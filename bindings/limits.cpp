// torch.finfo and torch.iinfo.
#include <limits>

#include "bindings/convert.h"
#include "bindings/init.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

struct LimitsObject : Object {
  DType dtype;
};

struct FloatLimits {
  int bits;
  double eps, max, smallest_normal, resolution;
};

template <class T>
constexpr FloatLimits limits_of(double resolution) {
  using Limits = std::numeric_limits<T>;
  return {int(8 * sizeof(T)), Limits::epsilon(), Limits::max(), Limits::min(), resolution};
}

FloatLimits float_limits(DType t) {
  switch (t) {
    case DType::Float16:
      return {16, 0x1p-10, 65504, 0x1p-14, 1e-3};
    case DType::BFloat16:
      return {16, 0x1p-7, 0x1.fep127, 0x1p-126, 1e-2};
    case DType::Float64:
      return limits_of<double>(1e-15);
    default:
      return limits_of<float>(1e-6);
  }
}

DType dtype_of(Object* self) { return reinterpret_cast<LimitsObject*>(self)->dtype; }
FloatLimits float_limits(Object* self) { return float_limits(dtype_of(self)); }

Object* make_limits(PyTypeObject* type, DType dtype) {
  Object* self = checked(type->tp_alloc(type, 0));
  reinterpret_cast<LimitsObject*>(self)->dtype = dtype;
  return self;
}

/// The only argument, a dtype; the default dtype if none is given and `fallback` allows it.
DType parse_type(const char* function, Object* args, Object* kwargs, bool fallback) {
  static const char* keywords[] = {"type", nullptr};
  Object* type = nullptr;
  const std::string format = str("|O:", function);
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format.c_str(), const_cast<char**>(keywords), &type))
    throw PythonError{};
  DType dtype = default_dtype;
  if (!type && !fallback) fail_type(function, "() missing 1 required positional arguments: \"type\"");
  if (type && !unwrap_dtype(type, &dtype))
    fail_type(function, "(): argument 'type' (position 1) must be torch.dtype, not ", Py_TYPE(type)->tp_name);
  return dtype;
}

Object* finfo_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&] {
    const DType dtype = real_of(parse_type("finfo", args, kwargs, true));
    if (!is_floating(dtype))
      fail_type("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.", dtype, "'");
    return make_limits(type, dtype);
  });
}

Object* iinfo_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&] {
    const DType dtype = parse_type("iinfo", args, kwargs, false);
    if (is_bool(dtype)) fail_type("torch.bool is not supported by torch.iinfo");
    if (!is_integral(dtype))
      fail_type("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.", dtype, "'");
    return make_limits(type, dtype);
  });
}

Object* get_dtype(Object* self, void*) { return PyUnicode_FromString(name(dtype_of(self))); }
Object* get_bits(Object* self, void*) { return PyLong_FromSize_t(8 * item_size(dtype_of(self))); }
Object* get_min(Object* self, void*) {
  const DType t = dtype_of(self);
  return PyLong_FromLongLong(is_signed(t) ? -1LL << (8 * item_size(t) - 1) : 0);
}
Object* get_max(Object* self, void*) {
  const DType t = dtype_of(self);
  return PyLong_FromUnsignedLongLong(~0ULL >> (64 - 8 * item_size(t) + is_signed(t)));
}

Object* limits_compare(Object* a, Object* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(a) != Py_TYPE(b)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((dtype_of(a) == dtype_of(b)) == (op == Py_EQ));
}

Py_hash_t limits_hash(Object* self) { return Py_hash_t(dtype_of(self)) + 1; }

/// PyTorch prints limits as printf's %g does.
std::string short_text(double x) {
  char text[32];
  snprintf(text, sizeof text, "%g", x);
  return text;
}

Object* finfo_repr(Object* self) {
  return guarded([&] {
    const FloatLimits l = float_limits(self);
    const std::string tiny = short_text(l.smallest_normal);
    const std::string text =
        str("finfo(resolution=", short_text(l.resolution), ", min=", short_text(-l.max), ", max=", short_text(l.max),
            ", eps=", short_text(l.eps), ", smallest_normal=", tiny, ", tiny=", tiny, ", dtype=", dtype_of(self), ")");
    return PyUnicode_FromString(text.c_str());
  });
}

Object* iinfo_repr(Object* self) {
  return guarded([&] {
    const DType t = dtype_of(self);
    const double span = double(1ULL << (8 * item_size(t) - 1));
    const std::string text = str("iinfo(min=", short_text(is_signed(t) ? -span : 0),
                                 ", max=", short_text(is_signed(t) ? span - 1 : 2 * span - 1), ", dtype=", t, ")");
    return PyUnicode_FromString(text.c_str());
  });
}

PyGetSetDef finfo_attributes[] = {
    attribute("dtype", get_dtype),
    attribute("bits", get_bits),
    attribute(
        "eps", [](Object* self, void*) { return PyFloat_FromDouble(float_limits(self).eps); },
        "The smallest x such that 1 + x != 1."),
    attribute("max", [](Object* self, void*) { return PyFloat_FromDouble(float_limits(self).max); }),
    attribute("min", [](Object* self, void*) { return PyFloat_FromDouble(-float_limits(self).max); }),
    attribute("tiny", [](Object* self, void*) { return PyFloat_FromDouble(float_limits(self).smallest_normal); }),
    attribute("smallest_normal",
              [](Object* self, void*) { return PyFloat_FromDouble(float_limits(self).smallest_normal); }),
    attribute(
        "resolution", [](Object* self, void*) { return PyFloat_FromDouble(float_limits(self).resolution); },
        "Decimal resolution."),
    kNoAttribute,
};

PyGetSetDef iinfo_attributes[] = {
    attribute("dtype", get_dtype),
    attribute("bits", get_bits),
    attribute("min", get_min),
    attribute("max", get_max),
    kNoAttribute,
};

PyTypeObject make_limits_type(const char* name, newfunc make, reprfunc repr, PyGetSetDef* attributes, const char* doc) {
  PyTypeObject type = plain_type(name, sizeof(LimitsObject));
  type.tp_doc = doc;
  type.tp_new = make;
  type.tp_repr = repr;
  type.tp_richcompare = limits_compare;
  type.tp_hash = limits_hash;
  type.tp_getset = attributes;
  return type;
}

}  // namespace

PyTypeObject finfo_type =
    make_limits_type("torch.finfo", finfo_new, finfo_repr, finfo_attributes, "Limits of a floating point type.");
PyTypeObject iinfo_type =
    make_limits_type("torch.iinfo", iinfo_new, iinfo_repr, iinfo_attributes, "Limits of an integer type.");

void init_limits(Object* module) {
  checked(PyModule_AddType(module, &finfo_type));
  checked(PyModule_AddType(module, &iinfo_type));
}

}  // namespace vivace
