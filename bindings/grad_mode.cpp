// no_grad, enable_grad, set_grad_enabled, inference_mode: context managers that cost little, and decorators (which
// vivace.autograd.grad_mode makes). The modes are flags of the thread; only the autograd layer reads them.
#include "bindings/convert.h"
#include "bindings/exports.h"
#include "runtime/autograd/layers.h"

namespace vivace {

namespace {

/// An object remembers the modes that its __enter__ calls found, those of the last call lowest.
struct ModeObject : Object {
  bool mode;      // what it sets
  uint64_t grad;  // stack of bits
  uint64_t inference;
};

ModeObject* mode_of(Object* self) { return static_cast<ModeObject*>(self); }

void push(ModeObject* self) {
  self->grad = self->grad << 1 | uint64_t(tls.grad_mode);
  self->inference = self->inference << 1 | uint64_t(tls.inference_mode);
}

void pop(ModeObject* self) {
  tls.grad_mode = self->grad & 1;
  set_inference_mode(self->inference & 1);
  self->grad >>= 1;
  self->inference >>= 1;
}

PyTypeObject no_grad_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject enable_grad_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject set_grad_enabled_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject inference_mode_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

ModeObject* new_mode(PyTypeObject* type, bool mode) {
  auto* self = mode_of(checked(type->tp_alloc(type, 0)));
  self->mode = mode;
  return self;
}

/// Calls a function of vivace.autograd.grad_mode.
Object* call_python(const char* name, Object* self, Object* function) {
  const auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.autograd.grad_mode")));
  return checked(PyObject_CallMethod(module.get(), name, "OO", self, function));
}

/// `@no_grad` without parentheses gives the function, not a type.
Object* decorate_bare(PyTypeObject* type, bool mode, Object* function) {
  const auto self = Ref<ModeObject>::steal(new_mode(type, mode));
  return call_python("decorate", self.object(), function);
}

/// no_grad(), no_grad(function), enable_grad().
Object* plain_vectorcall(Object* type_object, Object* const* args, size_t nargsf, Object* keywords) {
  return guarded([&]() -> Object* {
    auto* type = reinterpret_cast<PyTypeObject*>(type_object);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf) + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
    const bool mode = type == &enable_grad_type;
    if (n == 0) [[likely]]
      return new_mode(type, mode);
    if (n > 1) fail_type(type->tp_name, "() takes at most 1 argument (", n, " given)");
    if (args[0] == Py_None) return new_mode(type, mode);
    return decorate_bare(type, mode, args[0]);
  });
}

bool parse_mode(const char* name, Object* const* args, size_t nargsf, Object* keywords, Object** mode) {
  const Py_ssize_t npos = PyVectorcall_NARGS(nargsf), nkeys = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (npos + nkeys > 1) fail_type(name, "() takes at most 1 argument (", npos + nkeys, " given)");
  if (nkeys == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "mode") != 0)
    fail_type(name, "() got an unexpected keyword argument");
  if (npos + nkeys == 0) return false;
  *mode = args[0];
  return true;
}

Object* set_grad_enabled_vectorcall(Object* type, Object* const* args, size_t nargsf, Object* keywords) {
  return guarded([&]() -> Object* {
    Object* given;
    if (!parse_mode("set_grad_enabled", args, nargsf, keywords, &given))
      fail_type("set_grad_enabled() missing 1 required positional argument: 'mode'");
    const int mode = PyObject_IsTrue(given);
    checked(mode);
    ModeObject* self = new_mode(reinterpret_cast<PyTypeObject*>(type), mode);
    push(self);  // the mode is on from here, whether or not a with block follows
    tls.grad_mode = mode;
    return self;
  });
}

Object* inference_mode_vectorcall(Object* type_object, Object* const* args, size_t nargsf, Object* keywords) {
  return guarded([&]() -> Object* {
    auto* type = reinterpret_cast<PyTypeObject*>(type_object);
    Object* given;
    if (!parse_mode("inference_mode", args, nargsf, keywords, &given)) return new_mode(type, true);
    if (!PyBool_Check(given) && PyCallable_Check(given)) return decorate_bare(type, true, given);
    const int mode = PyObject_IsTrue(given);
    checked(mode);
    return new_mode(type, mode);
  });
}

/// Only subclasses get here: exact types are made by their vectorcall.
Object* mode_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&]() -> Object* {
    bool mode = !PyType_IsSubtype(type, &no_grad_type);
    if (PyTuple_GET_SIZE(args) > 0) {
      const int given = PyObject_IsTrue(PyTuple_GET_ITEM(args, 0));
      checked(given);
      mode = given;
    }
    return new_mode(type, mode);
  });
}

Object* grad_enter(Object* self, Object*) {
  push(mode_of(self));
  tls.grad_mode = mode_of(self)->mode;
  Py_RETURN_NONE;
}

/// The constructor has pushed already.
Object* set_grad_enabled_enter(Object* self, Object*) {
  tls.grad_mode = mode_of(self)->mode;
  Py_RETURN_NONE;
}

Object* inference_enter(Object* self, Object*) {
  push(mode_of(self));
  set_inference_mode(mode_of(self)->mode);
  tls.grad_mode = !mode_of(self)->mode;
  Py_RETURN_NONE;
}

Object* mode_exit(Object* self, Object* const*, Py_ssize_t) {
  pop(mode_of(self));
  Py_RETURN_NONE;
}

Object* set_grad_enabled_exit(Object* self, Object* const*, Py_ssize_t) {
  tls.grad_mode = mode_of(self)->grad & 1;
  Py_RETURN_NONE;
}

Object* mode_call(Object* self, Object* args, Object* kwargs) {
  return guarded([&] {
    if (PyTuple_GET_SIZE(args) != 1 || kwargs) fail_type(Py_TYPE(self)->tp_name, " decorates one function");
    // set_grad_enabled has acted already; as a decorator it acts in calls only.
    if (PyType_IsSubtype(Py_TYPE(self), &set_grad_enabled_type)) pop(mode_of(self));
    return call_python("decorate", self, PyTuple_GET_ITEM(args, 0));
  });
}

/// A fresh object of the same kind, for the next call of a decorated function.
Object* mode_clone(Object* self, Object*) {
  return guarded([&]() -> Object* {
    if (Py_TYPE(self) == &set_grad_enabled_type) {
      ModeObject* copy = new_mode(Py_TYPE(self), mode_of(self)->mode);
      push(copy);
      return copy;
    }
    return new_mode(Py_TYPE(self), mode_of(self)->mode);
  });
}

/// Copies and pickles make another.
Object* mode_reduce(Object* self, Object*) {
  Object* type = reinterpret_cast<Object*>(Py_TYPE(self));
  const bool plain =
      PyType_IsSubtype(Py_TYPE(self), &no_grad_type) || PyType_IsSubtype(Py_TYPE(self), &enable_grad_type);
  return plain ? Py_BuildValue("O()", type) : Py_BuildValue("O(N)", type, PyBool_FromLong(mode_of(self)->mode));
}

Object* mode_get(Object* self, void*) { return PyBool_FromLong(mode_of(self)->mode); }

PyGetSetDef mode_getsets[] = {
    {"mode", mode_get, nullptr, "What it sets.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <PyCFunction enter, _PyCFunctionFast exit>
PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(exit)), METH_FASTCALL, nullptr},
    {"clone", mode_clone, METH_NOARGS, "Another object that sets the same."},
    {"__reduce__", mode_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void add_type(Object* module, PyTypeObject& type, const char* name, const char* doc, PyMethodDef* methods,
              vectorcallfunc call) {
  type.tp_name = name;
  type.tp_basicsize = sizeof(ModeObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = doc;
  type.tp_new = mode_new;
  type.tp_vectorcall = call;
  type.tp_call = mode_call;
  type.tp_methods = methods;
  type.tp_getset = mode_getsets;
  checked(PyType_Ready(&type));
  checked(PyModule_AddObjectRef(module, name + sizeof("vivace.") - 1, reinterpret_cast<Object*>(&type)));
}

PyMethodDef functions[] = {
    {"is_grad_enabled", [](Object*, Object*) { return PyBool_FromLong(tls.grad_mode); }, METH_NOARGS,
     "Whether operators record what backward needs, in this thread."},
    {"is_inference_mode_enabled", [](Object*, Object*) { return PyBool_FromLong(tls.inference_mode); }, METH_NOARGS,
     "Whether inference mode is on in this thread."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_grad_modes(Object* module) {
  add_type(module, no_grad_type, "vivace.no_grad", "Operators inside record nothing for backward.",
           methods<grad_enter, mode_exit>, plain_vectorcall);
  add_type(module, enable_grad_type, "vivace.enable_grad", "Operators inside record what backward needs.",
           methods<grad_enter, mode_exit>, plain_vectorcall);
  add_type(module, set_grad_enabled_type, "vivace.set_grad_enabled",
           "Switches recording on or off, for good or for a with block.",
           methods<set_grad_enabled_enter, set_grad_enabled_exit>, set_grad_enabled_vectorcall);
  add_type(module, inference_mode_type, "vivace.inference_mode",
           "Like no_grad, and tensors made inside can never take part in recording.",
           methods<inference_enter, mode_exit>, inference_mode_vectorcall);
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace vivace
