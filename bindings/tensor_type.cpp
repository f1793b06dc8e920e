// The Python types Tensor and Parameter: life cycle, collection, slots.
#include "bindings/tensor_type.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/frame.h"
#include "bindings/override.h"
#include "bindings/packet.h"
#include "bindings/tensor_attributes.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/tangent.h"
#include "runtime/core/pool.h"

namespace vivace {
namespace {

Object* repr_function = nullptr;  // the Python function behind repr()

void free_extra(Tensor& t) {
  if (!t.extra) return;
  drop_tangents(t);
  TensorExtra* e = std::exchange(t.extra, nullptr);
  if (e->own_version && --e->own_version->refcount == 0) delete e->own_version;
  for (Object* o : {e->hooks, e->post_accumulate_hooks, e->accumulate_pre_hooks, e->accumulate_post_hooks, e->name})
    Py_XDECREF(o);
  delete e;
}

/// Cuts what can lead back to the tensor.
int tensor_clear(Object* self) {
  Tensor& t = tensor_of(self);
  Py_CLEAR(t.dict);
  if (t.extra) {
    drop_tangents(t);
    Py_CLEAR(t.extra->hooks);
    Py_CLEAR(t.extra->post_accumulate_hooks);
    Py_CLEAR(t.extra->accumulate_pre_hooks);
    Py_CLEAR(t.extra->accumulate_post_hooks);
  }
  Node* node = std::exchange(t.grad_fn, nullptr);
  Py_XDECREF(node);
  Tensor* grad = std::exchange(t.grad, nullptr);
  Py_XDECREF(grad);
  t.origin = ViewOrigin::Recorded;
  Tensor* base = std::exchange(t.base, nullptr);
  Py_XDECREF(base);
  return 0;
}

/// Frees what few tensors have. It may run Python code, which must not see an error that is set.
[[gnu::noinline]] void drop_rare(Tensor& t) {
  PyObject *type, *value, *traceback;
  const bool raised = PyErr_Occurred();
  if (raised) PyErr_Fetch(&type, &value, &traceback);
  if (t.weakrefs) PyObject_ClearWeakRefs(&t);
  tensor_clear(&t);
  free_extra(t);
  if (raised) PyErr_Restore(type, value, traceback);
}

inline bool any(const void* a, const void* b, const void* c, const void* d, const void* e) {
  const auto bits = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
  return (bits(a) | bits(b) | bits(c) | bits(d) | bits(e)) != 0;
}

void tensor_dealloc(Object* self) {
  Tensor& t = tensor_of(self);
  if (is_tracked(self)) untrack(self);
  if (any(t.grad, t.base, t.dict, t.extra, t.weakrefs)) [[unlikely]]
    drop_rare(t);
  if (Node* node = t.grad_fn) {
    t.grad_fn = nullptr;
    Py_DECREF(node);
  }
  recycle_tensor(&t);
}

int tensor_traverse(Object* self, visitproc visit, void* arg) {
  Tensor& t = tensor_of(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t.dict);
  Py_VISIT(reinterpret_cast<Object*>(t.grad_fn));
  Py_VISIT(t.grad);
  Py_VISIT(t.base);
  if (t.extra) {
    for (const Tangent* x = t.extra->tangents; x; x = x->outer) Py_VISIT(x->value);
    Py_VISIT(t.extra->hooks);
    Py_VISIT(t.extra->post_accumulate_hooks);
    Py_VISIT(t.extra->accumulate_pre_hooks);
    Py_VISIT(t.extra->accumulate_post_hooks);
  }
  return 0;
}

int tensor_setattro(Object* self, Object* name, Object* value) {
  const int status = PyObject_GenericSetAttr(self, name, value);
  if (tensor_of(self).dict) track(tensor_of(self));
  return status;
}

Object* tensor_richcompare(Object* a, Object* b, int comparison) {
  return call_operator(kTensorComparisons[comparison], a, b);
}

/// The id.
Py_hash_t tensor_hash(Object* self) { return Py_hash_t(reinterpret_cast<uintptr_t>(self)); }

/// Of a slot without a result.
int status_of(Object* result) {
  Py_XDECREF(result);
  return result ? 0 : -1;
}

Object* tensor_repr(Object* self) {
  if (is_overridden(self)) return override_method("__repr__", self, nullptr, 0, nullptr);
  if (!repr_function) return PyUnicode_FromFormat("<Tensor at %p>", self);
  return PyObject_CallOneArg(repr_function, self);
}

int ass_subscript_entry(Object* self, Object* key, Object* value) {
  if (is_plain(self) || !value || !(overrides(self) || overrides(value))) [[likely]]
    return tensor_ass_subscript(self, key, value);
  Object* args[] = {key, value};
  return status_of(override_method("__setitem__", self, args, 2, nullptr));
}

int contains_entry(Object* self, Object* element) {
  if (!is_overridden(self)) [[likely]]
    return tensor_contains(self, element);
  auto result = Ref<Object>::steal(override_method("__contains__", self, &element, 1, nullptr));
  return result ? PyObject_IsTrue(result.get()) : -1;
}

Object* tensor_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&]() -> Object* {
    auto t = Ref<Object>::steal(checked(legacy_tensor_new(default_dtype, args, kwargs, true)));
    if (type == tensor_type) return t.release();
    return retyped(tensor_of(t.object()), type).release();
  });
}

/// Of an instance of a user's class, which it stays: marked, so that isinstance() takes it for a Parameter.
Object* marked_parameter(Object* data, bool requires_grad) {
  auto t = Ref<Object>::steal(checked(PyObject_CallMethod(data, "detach", nullptr)));
  if (Py_TYPE(t.object()) != Py_TYPE(data))
    fail("Creating a Parameter from an instance of type ", Py_TYPE(data)->tp_name,
         " requires that detach() returns an instance of the same type, but return type ", Py_TYPE(t.object())->tp_name,
         " was found instead.");
  set_requires_grad(tensor_of(t.object()), requires_grad);
  checked(PyObject_SetAttrString(t.object(), "_is_param", Py_True));
  return t.release();
}

/// isinstance(instance, cls) for Parameter and its subclasses.
Object* parameter_instancecheck(Object* cls, Object* instance) {
  if (PyObject_TypeCheck(instance, reinterpret_cast<PyTypeObject*>(cls))) Py_RETURN_TRUE;
  if (cls != reinterpret_cast<Object*>(parameter_type) || !is_tensor(instance)) Py_RETURN_FALSE;
  const auto mark = Ref<Object>::steal(PyObject_GetAttrString(instance, "_is_param"));
  if (!mark) PyErr_Clear();
  return PyBool_FromLong(mark && mark.get() == Py_True);
}

/// Parameter's class. A type made from a spec can't be given one before Python 3.12.
void set_parameter_class() {
  static PyMethodDef methods[] = {
      {"__instancecheck__", parameter_instancecheck, METH_O, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  PyType_Spec spec = {"torch.nn.parameter._ParameterMeta", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  Object* meta = checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<Object*>(&PyType_Type)));
  Py_SET_TYPE(parameter_type, reinterpret_cast<PyTypeObject*>(meta));
}

Object* parameter_new(PyTypeObject* type, Object* args, Object* kwargs) {
  static const char* names[] = {"data", "requires_grad", nullptr};
  Object* data = Py_None;
  int requires_grad = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op:Parameter", const_cast<char**>(names), &data, &requires_grad))
    return nullptr;
  return guarded([&]() -> Object* {
    TensorRef source;
    if (data == Py_None)
      source = empty({0}, default_dtype);
    else if (is_tensor(data))
      source = TensorRef::share(&tensor_of(data));
    else
      fail_type("Parameter(): argument 'data' must be Tensor, not ", Py_TYPE(data)->tp_name);
    if (type == parameter_type && data != Py_None && Py_TYPE(data) != tensor_type &&
        !PyType_IsSubtype(Py_TYPE(data), parameter_type))
      return marked_parameter(data, requires_grad != 0);
    TensorRef parameter = retyped(*source, type);
    if (requires_grad) set_requires_grad(*parameter, true);
    return parameter.release();
  });
}

/// `Parameter(...)` has done everything in __new__.
int accept_init(Object*, Object*, Object*) { return 0; }

Object* set_repr(Object*, Object* function) {
  Object* old = std::exchange(repr_function, Py_NewRef(function));
  Py_XDECREF(old);
  Py_RETURN_NONE;
}
/// repr() by name, which subclasses call to give contents of their own.
Object* repr_method(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  if (nargs)
    return PyErr_Format(PyExc_TypeError, "__repr__() takes 1 positional argument but %zd were given", nargs + 1);
  std::vector<Object*> all{self};
  if (keywords) all.insert(all.end(), args, args + PyTuple_GET_SIZE(keywords));
  return PyObject_Vectorcall(repr_function, all.data(), 1, keywords);
}

PyMethodDef module_functions[] = {
    {"_set_repr", set_repr, METH_O, "Sets the function that repr() of a tensor calls."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Tensor, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

void append(std::vector<PyMethodDef>& to, const PyMethodDef* from) {
  for (; from->ml_name; ++from) to.push_back(*from);
}
void append(std::vector<PyGetSetDef>& to, const PyGetSetDef* from) {
  for (; from->name; ++from) to.push_back(*from);
}

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

PyTypeObject* make_type(Object* module, const char* name, std::vector<PyType_Slot> slots, PyTypeObject* base) {
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, int(sizeof(Tensor)), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC), slots.data()};
  auto* type = reinterpret_cast<PyTypeObject*>(
      checked(PyType_FromModuleAndSpec(module, &spec, reinterpret_cast<Object*>(base))));
  type->tp_name = strrchr(name, '.') + 1;  // as of a class made in Python, whose module is an attribute
  checked(PyModule_AddObjectRef(module, type->tp_name, reinterpret_cast<Object*>(type)));
  return type;
}

}  // namespace

void init_tensor_type(Object* module) {
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
  youngest = static_cast<CollectorHead*>(vivace_youngest_generation());
#endif
  // CPython keeps pointers to these tables for the life of the type.
  static std::vector<PyMethodDef> methods;
  static std::vector<PyGetSetDef> getset;
  append(methods, kTensorMethods);
  append(methods, kConstructorMethods);
  append(methods, kItemMethods);
  append(methods, kNumpyMethods);
  append(methods, kDlpackMethods);
  append(methods, kStorageMethods);
  append(methods, kTensorObjectMethods);
  methods.push_back(
      tensor_method<"__repr__", repr_method>("repr(self), or with `tensor_contents` in its parentheses."));
  methods.back().ml_flags |= METH_COEXIST;
  methods.push_back({nullptr, nullptr, 0, nullptr});
  append(getset, kTensorAttributes);
  append(getset, kTensorProperties);
  append(getset, kNumpyGetSets);
  getset.push_back({"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr});
  getset.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});

  std::vector<PyType_Slot> slots = {
      slot(Py_tp_dealloc, tensor_dealloc),
      slot(Py_tp_traverse, tensor_traverse),
      slot(Py_tp_clear, tensor_clear),
      slot(Py_tp_setattro, tensor_setattro),
      slot(Py_tp_richcompare, tensor_richcompare),
      slot(Py_tp_hash, tensor_hash),
      slot(Py_tp_repr, tensor_repr),
      slot(Py_tp_new, tensor_new),
      slot(Py_tp_init, accept_init),
      slot(Py_tp_iter, tensor_iter),
      slot(Py_mp_subscript, method_entry<"__getitem__", tensor_subscript>),
      slot(Py_mp_ass_subscript, ass_subscript_entry),
      slot(Py_mp_length, slot_entry<"__len__", tensor_length>),
      slot(Py_sq_length, slot_entry<"__len__", tensor_length>),
      slot(Py_sq_item, tensor_sequence_item),
      slot(Py_sq_contains, contains_entry),
      slot(Py_nb_bool, slot_entry<"__bool__", tensor_bool>),
      slot(Py_nb_int, slot_entry<"__int__", tensor_int>),
      slot(Py_nb_float, slot_entry<"__float__", tensor_float>),
      slot(Py_nb_index, slot_entry<"__index__", tensor_index>),
      {Py_tp_methods, methods.data()},
      {Py_tp_getset, getset.data()},
      {Py_tp_members, members},
      {Py_tp_doc,
       const_cast<char*>(
           "A multi-dimensional array of one element type, on which operations can be recorded for backward().")},
  };
  for (const PyType_Slot* s = kTensorOperatorSlots; s->slot; ++s) slots.push_back(*s);
  tensor_type = make_type(module, "torch.Tensor", std::move(slots), nullptr);

  parameter_type = make_type(
      module, "torch.nn.parameter.Parameter",
      {slot(Py_tp_dealloc, tensor_dealloc),
       slot(Py_tp_traverse, tensor_traverse),
       slot(Py_tp_clear, tensor_clear),
       slot(Py_tp_new, parameter_new),
       slot(Py_tp_init, accept_init),
       {Py_tp_doc,
        const_cast<char*>("A tensor that is a parameter of a module: Parameter(data=None, requires_grad=True).")}},
      tensor_type);
  set_parameter_class();
  checked(PyModule_AddFunctions(module, module_functions));
}

}  // namespace vivace
