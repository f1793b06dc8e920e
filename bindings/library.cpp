// Operators defined by Python and kernels registered by it; vivace/_library decides which callable stands for which
// key. Also the scope that keeps calls below autograd.
#include <cstdlib>
#include <cstring>
#include <map>

#include "bindings/backend.h"
#include "bindings/convert.h"
#include "bindings/native_kernel.h"
#include "bindings/parse.h"
#include "bindings/python_dispatch.h"
#include "bindings/python_op.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/view.h"
#include "runtime/dispatch/backend.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/profiler/layer.h"
#include "runtime/vmap/batched.h"

namespace vivace {
namespace {

std::map<std::string, Op*, std::less<>> defined_ops;

constexpr std::pair<std::string_view, ArgKind> kKinds[] = {
    {"Tensor", ArgKind::Tensor},       {"Scalar", ArgKind::Scalar},       {"int", ArgKind::Int},
    {"float", ArgKind::Float},         {"bool", ArgKind::Bool},           {"int[]", ArgKind::IntList},
    {"float[]", ArgKind::FloatList},   {"Scalar[]", ArgKind::ScalarList}, {"bool[]", ArgKind::ScalarList},
    {"Tensor[]", ArgKind::TensorList}, {"Tensor?[]", ArgKind::IndexList}, {"ScalarType", ArgKind::DType},
    {"Layout", ArgKind::Layout},       {"Device", ArgKind::Device},       {"MemoryFormat", ArgKind::MemoryFormat},
    {"str", ArgKind::String},          {"Generator", ArgKind::Generator}, {"object", ArgKind::Object},
};

ArgKind kind_of(std::string_view type) {
  for (const auto& [name, kind] : kKinds)
    if (name == type) return kind;
  fail("vivace has no arguments of type ", type);
}

const char* keep(const std::string& text) { return strdup(text.c_str()); }

[[noreturn]] Object* no_kernel(const Op& op, KeySet keys, Value*) {
  const int key = 31 - __builtin_clz((keys & kBackendKeys) | 1);
  const char* const names[] = {"CPU", "Meta", "CUDA", backend_name()};
  const char* name = key < 4 ? names[key] : "this";
  raise(ErrorKind::NotImplemented, str("Could not run '", op.name, "' with arguments from the '", name,
                                       "' backend: no kernel was registered for it."));
}

/// The Value of a default, with memory that lasts.
Value default_of(const ArgSpec& spec, Object* value) {
  ArgSpec alone = spec;
  alone.has_default = alone.keyword_only = false;
  Op op{.name = "default", .overload = "", .args = &alone, .nargs = 1, .table = {}};
  BoundCall call;
  std::string why;
  if (!bind_arguments(op, false, nullptr, &value, 1, nullptr, call, &why))
    fail("the default of argument '", spec.name, "' does not fit: ", why);
  Value kept = call.args[0];
  if (kept.tag > Tag::Tensor) own_saved(kept);
  return kept;
}

Op* make_op(const std::string& qualname, Object* arguments, const char* schema) {
  const Py_ssize_t n = PyTuple_GET_SIZE(arguments);
  if (n > kMaxArgs) fail(qualname, ": an operator has at most ", kMaxArgs, " arguments");
  auto* specs = new ArgSpec[size_t(n)]{};
  const size_t dot = qualname.find('.');
  auto* op = new Op{.name = keep(qualname.substr(0, dot)),
                    .overload = keep(dot == qualname.npos ? "" : qualname.substr(dot + 1)),
                    .args = specs,
                    .nargs = uint8_t(n),
                    .op_class = OpClass::Plain,
                    .schema = keep(schema),
                    .table = {{Key::CPU, no_kernel},
                              {Key::Meta, no_kernel},
                              {Key::CUDA, no_kernel},
                              {Key::PrivateUse, no_kernel},
                              {Key::View, view_kernel},
                              {Key::Inference, inference_kernel},
                              {Key::Vmap, vmap_kernel},
                              {Key::ForwardAD, refuse_forward},
                              {Key::Profiler, profiler::operator_kernel}}};
  bool mutates = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    const char *name, *type;
    int optional, keyword_only, mutated, list_size;
    Object* fallback;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(arguments, i), "ssppipO", &name, &type, &optional, &keyword_only, &list_size,
                          &mutated, &fallback))
      throw PythonError{};
    ArgSpec& spec = specs[i];
    spec = {.name = keep(name),
            .kind = kind_of(type),
            .optional = optional != 0,
            .keyword_only = keyword_only != 0,
            .is_mutated = mutated != 0,
            .list_size = int8_t(list_size)};
    mutates |= spec.is_mutated;
    if (spec.kind == ArgKind::Tensor) op->tensor_args |= 1u << i;
    if (spec.kind == ArgKind::TensorList || spec.kind == ArgKind::IndexList) op->list_args |= 1u << i;
    if (PyTuple_GET_SIZE(fallback) == 0) continue;
    spec.fallback = default_of(spec, PyTuple_GET_ITEM(fallback, 0));
    spec.has_default = true;
  }
  show_to_python(*op);
  if (mutates) {
    op->table.keys |= bit(Key::Watched);
    op->table.kernels[int(Key::Watched)] = watched_kernel;
  }
  return op;
}

/// _define_operator(qualname, arguments, schema, fresh_results). An argument is (name, type, optional, keyword_only,
/// list_size, mutated, default), where the default is a tuple of one value or empty.
Object* define_operator(Object*, Object* args) {
  const char *qualname, *schema;
  Object* arguments;
  int fresh;
  if (!PyArg_ParseTuple(args, "sO!sp:_define_operator", &qualname, &PyTuple_Type, &arguments, &schema, &fresh))
    return nullptr;
  return guarded([&]() -> Object* {
    Op* op = make_op(qualname, arguments, schema);
    PythonOp& extended = python_op(*op);
    extended.defined = true;
    extended.fresh_results = fresh != 0;
    defined_ops[qualname] = op;
    Py_RETURN_NONE;
  });
}

Object* forget_operator(Object*, Object* qualname) {
  const char* text = PyUnicode_AsUTF8(qualname);
  if (!text) return nullptr;
  defined_ops.erase(text);
  Py_RETURN_NONE;
}

Op& operator_named(const char* qualname) {
  Op* op = find_qualified(qualname);
  if (!op) fail("operator ", qualname, " does not exist");
  return *op;
}

/// _set_kernel(qualname, key, function, how, below): `how` is "kernel", "keyset" (the callable gets the set of keys as
/// well), "record" (Autograd: the callable records the call), "fallthrough" or "original"; `below`: the callable is the
/// kernel of a device, and runs below autograd.
Object* set_kernel(Object*, Object* args) {
  const char *qualname, *how;
  int key, below;
  Object* function;
  if (!PyArg_ParseTuple(args, "siOsp:_set_kernel", &qualname, &key, &function, &how, &below)) return nullptr;
  return guarded([&]() -> Object* {
    Op& op = operator_named(qualname);
    const std::string_view mode = how;
    PythonOp* extended = mode == "original" ? find_python_op(op) : &python_op(op);
    if (!extended) Py_RETURN_NONE;
    if (is_native_kernel(function)) {
      if (mode != "kernel") fail(op.name, ": a kernel written in C++ is not given the set of keys");
      bind_native_kernel(function, op);
    }
    if (Key(key) == Key::PrivateUse && mode != "original" && !extended->defined) ready_backend_kernels();
    const KeySet mask = bit(Key(key));
    Kernel& kernel = op.table.kernels[key];
    if (mode == "original") {
      kernel = extended->original.kernels[key];
      op.table.keys = (op.table.keys & ~mask) | (extended->original.keys & mask);
    } else if (mode == "fallthrough") {
      op.table.keys &= ~mask;
    } else {
      kernel = mode == "record" ? python_autograd : python_kernel;
      op.table.keys |= mask;
    }
    extended->replaced = mode != "original" ? extended->replaced | mask : extended->replaced & ~mask;
    extended->below = below ? extended->below | mask : extended->below & ~mask;
    extended->with_keys = mode == "keyset" ? extended->with_keys | mask : extended->with_keys & ~mask;
    const bool always = Key(key) == Key::Autograd &&
                        (mode == "kernel" || mode == "keyset");  // users' kernels see calls without grad, too
    extended->always = always ? extended->always | mask : extended->always & ~mask;
    Object* old = std::exchange(extended->kernels[key], Py_NewRef(function));
    Py_XDECREF(old);
    Py_RETURN_NONE;
  });
}

/// _has_kernel(qualname, key): of its own, not registered by Python.
Object* has_kernel(Object*, Object* args) {
  const char* qualname;
  int key;
  if (!PyArg_ParseTuple(args, "si:_has_kernel", &qualname, &key)) return nullptr;
  return guarded([&]() -> Object* {
    const Op& op = operator_named(qualname);
    const PythonOp* extended = find_python_op(op);
    const KernelTable& table = extended ? extended->original : op.table;
    const Kernel kernel = table.kernels[key];
    return PyBool_FromLong(table.keys >> key & 1 && kernel != no_kernel && kernel != backend_kernel);
  });
}

/// _is_composite(qualname): whether an operator of the catalogue only calls others.
Object* is_composite(Object*, Object* qualname) {
  return guarded([&]() -> Object* {
    const char* text = PyUnicode_AsUTF8(qualname);
    if (!text) throw PythonError{};
    const Op& op = operator_named(text);
    const PythonOp* extended = find_python_op(op);
    if (!extended) return PyBool_FromLong(is_implicit_composite(op));
    Op own = op;
    own.table = extended->original;
    return PyBool_FromLong(!extended->defined && is_implicit_composite(own));
  });
}

/// _catalogue_operators(): pairs of name and overload.
Object* catalogue_operators(Object*, Object*) {
  return guarded([&]() -> Object* {
    auto list = Ref<Object>::steal(checked(PyList_New(0)));
    for (const Op* op : all_ops()) {
      const auto pair = Ref<Object>::steal(checked(Py_BuildValue("ss", op->name, op->overload)));
      checked(PyList_Append(list.object(), pair.object()));
    }
    return list.release();
  });
}

Object* operator_schema(Object*, Object* qualname) {
  return guarded([&]() -> Object* {
    const char* text = PyUnicode_AsUTF8(qualname);
    if (!text) throw PythonError{};
    return checked(PyUnicode_FromString(operator_named(text).schema));
  });
}

/// _exclude_keys(mask): hides these keys from calls of this thread; what was hidden before.
Object* exclude_keys(Object*, Object* mask) {
  const unsigned long given = PyLong_AsUnsignedLong(mask);
  if (PyErr_Occurred()) return nullptr;
  return PyLong_FromUnsignedLong(std::exchange(tls.exclude, KeySet(given)));
}
/// _tensor_keys(t): the keys that it brings to a call.
Object* tensor_keys(Object*, Object* t) {
  if (is_tensor(t)) return PyLong_FromUnsignedLong(tensor_of(t).keys);
  return PyErr_Format(PyExc_TypeError, "_tensor_keys() expects a Tensor, not %s", Py_TYPE(t)->tp_name);
}
Object* included_keys(Object*, Object*) { return PyLong_FromUnsignedLong(tls.include); }
Object* excluded_keys(Object*, Object*) { return PyLong_FromUnsignedLong(tls.exclude); }

}  // namespace

std::string full_name(const Op& op) {
  const bool qualified = std::string_view(op.name).find("::") != std::string_view::npos;
  return str(qualified ? "" : "aten::", op.name, *op.overload ? "." : "", op.overload);
}

Op* find_qualified(std::string_view qualname) {
  if (const auto found = defined_ops.find(qualname); found != defined_ops.end()) return found->second;
  if (!qualname.starts_with("aten::") && !qualname.starts_with("vivace::")) return nullptr;
  qualname.remove_prefix(qualname.find("::") + 2);
  const size_t dot = qualname.find('.');
  return find_op(qualname.substr(0, dot), dot == qualname.npos ? "" : qualname.substr(dot + 1));
}

Op* find_own(std::string_view qualname) {
  constexpr std::string_view aten = "aten::";
  if (qualname.starts_with(aten))
    if (Op* op = find_qualified(str("vivace::", qualname.substr(aten.size())))) return op;
  return find_qualified(qualname);
}

PyMethodDef kLibraryFunctions[] = {
    {"_define_operator", define_operator, METH_VARARGS, "Defines an operator."},
    {"_forget_operator", forget_operator, METH_O, "Takes an operator that Python defined from the register."},
    {"_set_kernel", set_kernel, METH_VARARGS, "Sets what an operator calls for a dispatch key."},
    {"_has_kernel", has_kernel, METH_VARARGS, "Whether an operator has a kernel that Python did not register."},
    {"_is_composite", is_composite, METH_O, "Whether an operator of the catalogue only calls others."},
    {"_catalogue_operators", catalogue_operators, METH_NOARGS, "Name and overload of all operators built in."},
    {"_operator_schema", operator_schema, METH_O, "An operator's signature in PyTorch's notation."},
    {"_exclude_keys", exclude_keys, METH_O, "Sets which dispatch keys calls of this thread don't see."},
    {"_excluded_keys", excluded_keys, METH_NOARGS, nullptr},
    {"_included_keys", included_keys, METH_NOARGS, nullptr},
    {"_tensor_keys", tensor_keys, METH_O, nullptr},
    kNoMethod,
};

}  // namespace vivace
