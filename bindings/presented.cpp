// Where PyTorch has other operators than the catalogue: what Python sees of a call, or of a derivative, is written in
// Python (vivace/_dispatch). Such functions run only where Key::Python is met.
#include <algorithm>
#include <unordered_map>

#include "bindings/convert.h"
#include "bindings/python_dispatch.h"
#include "bindings/python_op.h"
#include "runtime/autograd/explain.h"

namespace vivace {
namespace {

struct Presented {
  Ref<Object> function;
  KernelTable before;
};
auto& presented = *new std::unordered_map<const Op*, Presented>;  // outlives the interpreter

struct Derivative {
  Ref<Object> function;
  const Op* op;  // names what the node saved
};
auto& derivatives = *new std::unordered_map<const NodeInfo*, Derivative>;

/// What the function gives; null if it leaves this call as it is.
Object* call_function(const Op& op, Value* args) {
  const auto [positional, keywords] = python_arguments(op, args);
  const Ref<Object> function = presented.at(&op).function;
  auto result = Ref<Object>::steal(checked(PyObject_Call(function.object(), positional.object(), keywords.object())));
  if (result.object() == Py_NotImplemented) return nullptr;
  return check_python_result(op, args, std::move(result)).release();
}

Object* call_before(const Op& op, KeySet keys, Value* args) {
  const KernelTable& table = presented.at(&op).before;
  return table.kernels[31 - __builtin_clz((keys & table.keys) | 1)](op, keys, args);
}

/// Key::Python: another operator, which stands for the whole call.
Object* call_other(const Op& op, KeySet keys, Value* args) {
  {
    const ExcludeGuard below(kAbovePython);
    if (Object* result = call_function(op, args)) return result;
  }
  return call_before(op, keys, args);
}

/// From Key::SavedHooks down: several operators, each recorded by itself.
Object* call_several(const Op& op, KeySet keys, Value* args) {
  if (keys & bit(Key::Python))
    if (Object* result = call_function(op, args)) return result;
  return call_before(op, keys, args);
}

/// An operator of the catalogue; Python may have defined another one of the same name.
Op& built_in(const char* name) {
  const std::string_view text = name;
  const size_t dot = text.find('.');
  Op* op = find_op(text.substr(0, dot), dot == text.npos ? "" : text.substr(dot + 1));
  if (!op) fail("there is no operator ", name);
  return *op;
}

/// _present(name, function, recorded): `recorded`: the function calls operators that autograd records.
Object* present(Object*, Object* args) {
  const char* name;
  Object* function;
  int recorded;
  if (!PyArg_ParseTuple(args, "sOp:_present", &name, &function, &recorded)) return nullptr;
  return guarded([&]() -> Object* {
    Op* op = &built_in(name);
    presented.insert_or_assign(op, Presented{Ref<Object>::share(function), op->table});
    set_own_kernel(*op, Key::Python, recorded ? call_several : call_other);
    for (const Key key : {Key::Autograd, Key::SavedHooks})
      if (recorded && op->table.keys & bit(key)) set_own_kernel(*op, key, call_several);
    Py_RETURN_NONE;
  });
}

/// _set_derivative(name, function)
Object* set_derivative(Object*, Object* args) {
  const char* name;
  Object* function;
  if (!PyArg_ParseTuple(args, "sO:_set_derivative", &name, &function)) return nullptr;
  return guarded([&]() -> Object* {
    const Op* op = &built_in(name);
    if (!op->node) fail(name, " has no derivative");
    derivatives[op->node] = {Ref<Object>::share(function), op};
    Py_RETURN_NONE;
  });
}

Object* owned_or_none(TensorRef t) { return t ? t.release() : Py_NewRef(Py_None); }

/// What a node saved, by name: of an argument "self", its sizes "self_sizes", its dtype "self_dtype", of a result
/// "result0". "sources" are the names of the nodes that its gradients go to.
Ref<Object> saved_values(Node& node, const Op& op) {
  auto found = Ref<Object>::steal(checked(PyDict_New()));
  for (uint32_t k = 0; k < node.nsaves; ++k) {
    const SaveSpec spec = node.info->saves[k];
    const Value& v = node.saved()[k];
    const bool is_value = spec.from == SaveFrom::Arg || spec.from == SaveFrom::Result;
    const bool is_tensor =
        spec.from == SaveFrom::Result || (spec.from == SaveFrom::Arg && op.args[spec.index].kind == ArgKind::Tensor);
    const std::string name = spec.from == SaveFrom::Result     ? str("result", int(spec.index))
                             : is_value                        ? std::string(op.args[spec.index].name)
                             : spec.from == SaveFrom::ArgSizes ? str(op.args[spec.index].name, "_sizes")
                                                               : str(op.args[spec.index].name, "_dtype");
    const auto value =
        Ref<Object>::steal(checked(is_tensor ? owned_or_none(saved_tensor(node, int(k))) : wrap_value(v)));
    checked(PyDict_SetItemString(found.object(), name.c_str(), value.object()));
  }
  auto sources = Ref<Object>::steal(checked(PyTuple_New(node.nedges)));
  for (uint32_t i = 0; i < node.nedges; ++i) {
    const Edge edge = node.edges()[i];
    const char* name = edge && !edge.is_leaf() ? edge.node()->info->name : "";
    PyTuple_SET_ITEM(sources.object(), i, checked(PyUnicode_FromString(name)));
  }
  checked(PyDict_SetItemString(found.object(), "sources", sources.object()));
  return found;
}

/// Whether a mode is on, or an operand of the derivative is of a class that sees calls.
bool is_seen(Node& node, const Tensor& grad) {
  if (mode_is_on() || grad.keys & bit(Key::Python)) return true;
  return std::any_of(node.saved(), node.saved() + node.nsaves, [](const Value& v) {
    return v.tag == Tag::Tensor && v.tensor && v.tensor->keys & bit(Key::Python);
  });
}

bool derive_in_python(Node& node, Tensor* const* grads, Tensor** out, Needs needs) {
  const auto found = derivatives.find(node.info);
  if (found == derivatives.end() || tls.grad_mode) return false;
  const auto [function, op] = found->second;
  if (!grads[0] || !is_seen(node, *grads[0])) return false;
  const Ref<Object> saved = saved_values(node, *op);
  auto wanted = Ref<Object>::steal(checked(PyTuple_New(node.nedges)));
  for (uint32_t i = 0; i < node.nedges; ++i) PyTuple_SET_ITEM(wanted.object(), i, PyBool_FromLong(needs >> i & 1));
  const auto result = Ref<Object>::steal(checked(PyObject_CallFunctionObjArgs(
      function.object(), static_cast<Object*>(grads[0]), wanted.object(), saved.object(), nullptr)));
  if (result.object() == Py_NotImplemented) return false;
  Object* const* items = PyTuple_Check(result.object()) ? PySequence_Fast_ITEMS(result.object()) : nullptr;
  const uint32_t n = items ? uint32_t(PyTuple_GET_SIZE(result.object())) : 1;
  for (uint32_t i = 0; i < n && i < node.nedges; ++i) {
    Object* gradient = items ? items[i] : result.object();
    if (gradient == Py_None || !(needs >> i & 1)) continue;
    out[i] = &tensor_of(Py_NewRef(gradient));
  }
  return true;
}

}  // namespace

void init_presented(Object* module) {
  static PyMethodDef functions[] = {
      {"_present", present, METH_VARARGS, "Sets what Python sees in the place of an operator."},
      {"_set_derivative", set_derivative, METH_VARARGS, "Sets what Python sees of an operator's derivative."},
      kNoMethod,
  };
  checked(PyModule_AddFunctions(module, functions));
  foreign_derivative = derive_in_python;
}

}  // namespace vivace
