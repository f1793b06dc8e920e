// _C.overridable(function, *, in_float32=False): a Python function or method that __torch_function__ may override, and
// whose floating tensors autocast may give in float32. As a C object it costs a plain call a few nanoseconds; a wrapper
// in Python would cost a frame.
#include <cstddef>
#include <vector>

#include "bindings/guard.h"
#include "bindings/override.h"
#include "runtime/autograd/autocast.h"

namespace vivace {
namespace {

struct Overridable : Object {
  vectorcallfunc vectorcall;
  Object* function;
};
Overridable* overridable(Object* self) { return static_cast<Overridable*>(self); }

bool needs_override(Object* const* args, size_t n) {
  if (modes_exist()) return any_overrides(nullptr, args, n);
  for (size_t i = 0; i < n; ++i)
    if (!is_plain(args[i]) && any_overrides(nullptr, args + i, 1)) return true;
  return false;
}

Object* call(Object* self, Object* const* args, size_t nargsf, Object* kwnames) {
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  const size_t n = size_t(nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  if (needs_override(args, n)) return override_call(self, args, nargs, kwnames);
  return PyObject_Vectorcall(overridable(self)->function, args, nargsf, kwnames);
}

/// The call with autocast off and floating tensors among the arguments in float32, if autocast is on.
Object* call_in_float32(Object* self, Object* const* args, size_t nargsf, Object* kwnames) {
  if (!is_autocast_enabled()) [[likely]]
    return call(self, args, nargsf, kwnames);
  return guarded([&] {
    const AutocastOffGuard off;
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    const size_t n = size_t(nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
    std::vector<Ref<Object>> owned;
    std::vector<Object*> cast;
    for (size_t i = 0; i < n; ++i) {
      owned.push_back(is_tensor(args[i]) ? Ref<Object>::steal(in_float32(tensor_of(args[i])).release())
                                         : Ref<Object>::share(args[i]));
      cast.push_back(owned.back().get());
    }
    return call(self, cast.data(), size_t(nargs), kwnames);
  });
}

Object* make(PyTypeObject* type, Object* args, Object* kwargs) {
  static const char* const names[] = {"function", "in_float32", nullptr};
  Object* function;
  int in_float32 = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$p:overridable", const_cast<char**>(names), &function, &in_float32))
    return nullptr;
  auto* self = overridable(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->vectorcall = in_float32 ? call_in_float32 : call;
  self->function = Py_NewRef(function);
  return self;
}

Object* bind(Object* self, Object* instance, Object*) {
  return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

/// Names, documentation and so on are the function's.
Object* get_attribute(Object* self, Object* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) return Py_NewRef(overridable(self)->function);
  if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0 ||
      PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0)
    return PyObject_GenericGetAttr(self, name);
  return PyObject_GetAttr(overridable(self)->function, name);
}

Object* reduce(Object* self, Object*) { return PyObject_GetAttrString(overridable(self)->function, "__qualname__"); }
Object* repr(Object* self) { return PyObject_Repr(overridable(self)->function); }

int traverse(Object* self, visitproc visit, void* arg) {
  Py_VISIT(overridable(self)->function);
  return 0;
}
int clear(Object* self) {
  Py_CLEAR(overridable(self)->function);
  return 0;
}
void dealloc(Object* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_TYPE(self)->tp_free(self);
}

PyMethodDef methods[] = {{"__reduce_ex__", reduce, METH_O, nullptr}, kNoMethod};

// pydoc looks past get_attribute.
Object* doc(Object* self, void*) { return PyObject_GetAttrString(overridable(self)->function, "__doc__"); }
PyGetSetDef attributes[] = {{"__doc__", doc, nullptr, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type() {
  PyTypeObject type = plain_type("torch.overridable", sizeof(Overridable),
                                 Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR);
  type.tp_vectorcall_offset = offsetof(Overridable, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_new = make;
  type.tp_dealloc = dealloc;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_descr_get = bind;
  type.tp_getattro = get_attribute;
  type.tp_repr = repr;
  type.tp_methods = methods;
  type.tp_getset = attributes;
  return type;
}
PyTypeObject overridable_type = make_type();

}  // namespace

void init_overridable(Object* module) { checked(PyModule_AddType(module, &overridable_type)); }

}  // namespace vivace
