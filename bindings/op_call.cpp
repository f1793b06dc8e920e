// _OpCall: calls one operator, or the first of several overloads that the arguments fit, by the names that Python's
// torch.ops gives them. It holds operators, not their packets: defaults and keywords are those of the schema alone.
#include "bindings/python_op.h"

#include <structmember.h>

#include "bindings/convert.h"
#include "bindings/override.h"
#include "bindings/parse.h"

namespace vivace {
namespace {

struct Target {
  Op* op;
  PythonOp* extended;  // of operators that Python defined; else null
};

struct OpCall : Object {
  vectorcallfunc call;  // right behind Object: see `members`
  std::vector<Target>* targets;
};

OpCall& op_call(Object* self) { return *static_cast<OpCall*>(self); }

[[noreturn, gnu::cold]] void refuse(const OpCall& self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  std::string text;
  BoundCall call;
  for (const Target& target : *self.targets) {
    std::string why;
    bind_arguments(*target.op, false, nullptr, args, nargs, kwnames, call, &why);
    text += str(text.empty() ? "" : "\n", target.op->name, "(): ", why, "; the signature is ", target.op->schema);
  }
  fail_type(text);
}

template <class Dispatch>
Object* call_first(Object* object, Object* const* args, Py_ssize_t nargs, Object* kwnames, Dispatch&& dispatch_one) {
  return guarded([&]() -> Object* {
    const OpCall& self = op_call(object);
    BoundCall call;
    for (const Target& target : *self.targets) {
      if (!bind_arguments(*target.op, false, nullptr, args, nargs, kwnames, call, nullptr)) continue;
      if (call.overridden || modes_exist()) [[unlikely]]
        if (call.overridden || any_overrides(nullptr, args, 0)) return override_call(object, args, nargs, kwnames);
      return dispatch_one(target, call);
    }
    const size_t given = size_t(nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
    if (any_overrides(nullptr, args, given)) return override_call(object, args, nargs, kwnames);
    refuse(self, args, nargs, kwnames);
  });
}

Object* vectorcall(Object* self, Object* const* args, size_t nargsf, Object* kwnames) {
  return call_first(self, args, PyVectorcall_NARGS(nargsf), kwnames, [](const Target& target, BoundCall& call) {
    if (target.extended) call.keys |= target.extended->always;
    return dispatch(*target.op, call.keys, call.args);
  });
}

Object* below_autograd(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return call_first(self, args, nargs, kwnames, [](const Target& target, BoundCall& call) {
    return dispatch(*target.op, call.keys & below(Key::Autograd), call.args);
  });
}

KeySet key_set(Object* const* args, Py_ssize_t nargs) {
  if (nargs == 0) fail_type("a set of keys is missing");
  const unsigned long keys = PyLong_AsUnsignedLong(args[0]);
  if (PyErr_Occurred()) throw PythonError{};
  return KeySet(keys);
}

/// _redispatch(keys, ...): the call, with these keys and no others.
Object* redispatch_call(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    const KeySet keys = key_set(args, nargs);
    return call_first(self, args + 1, nargs - 1, kwnames,
                      [&](const Target& target, BoundCall& call) { return redispatch(*target.op, keys, call.args); });
  });
}

/// _call_original(key, ...): what the operator would run for one key had Python registered nothing.
Object* call_original(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    const KeySet keys = key_set(args, nargs);
    return call_first(self, args + 1, nargs - 1, kwnames, [&](const Target& target, BoundCall& call) {
      const PythonOp* extended = find_python_op(*target.op);
      const KernelTable& table = extended ? extended->original : target.op->table;
      return table.kernels[31 - __builtin_clz((keys & table.keys) | 1)](*target.op, keys, call.args);
    });
  });
}

/// _set_operators(*qualnames)
Object* set_operators(Object* self, Object* const* names, Py_ssize_t n) {
  return guarded([&]() -> Object* {
    std::vector<Target> targets;
    for (Py_ssize_t i = 0; i < n; ++i) {
      const char* text = PyUnicode_AsUTF8(names[i]);
      if (!text) throw PythonError{};
      Op* op = find_qualified(text);
      if (!op) fail("operator ", text, " does not exist");
      PythonOp* extended = find_python_op(*op);
      targets.push_back({op, extended && extended->defined ? extended : nullptr});
    }
    *op_call(self).targets = std::move(targets);
    Py_RETURN_NONE;
  });
}

Object* new_op_call(PyTypeObject* type, Object*, Object*) {
  Object* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  op_call(self).call = vectorcall;
  op_call(self).targets = new std::vector<Target>;
  return self;
}

void free_op_call(Object* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete op_call(self).targets;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    fast_function("_set_operators", set_operators, "_set_operators(*qualnames): what a call tries, in this order."),
    keyword_function("below_autograd", below_autograd, "The same call, past the layers from autograd up."),
    keyword_function("_redispatch", redispatch_call,
                     "_redispatch(keys, ...): the call, with these keys and no others."),
    keyword_function("_call_original", call_original, "_call_original(keys, ...): past all that Python registered."),
    kNoMethod,
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, sizeof(Object), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

void init_op_call(Object* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_op_call)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(free_op_call)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {"vivace._C._OpCall", sizeof(OpCall), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  const auto type = Ref<Object>::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddObjectRef(module, "_OpCall", type.object()));
}

}  // namespace vivace
