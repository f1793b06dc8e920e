// The ctx of a custom Function, which is its node: attributes of the user's choice, and what forward tells apply.
#include "bindings/function.h"

#include <structmember.h>

#include <cstddef>

#include "bindings/convert.h"
#include "bindings/node_type.h"

namespace vivace {
namespace {

Node& node_of(Object* self) { return *reinterpret_cast<Node*>(self); }
FunctionState& state_of(Object* self) { return *node_of(self).extra->function; }

template <Object* FunctionState::* field>
Object* set_tuple(Object* self, Object* tensors) {
  Object* old = std::exchange(state_of(self).*field, Py_NewRef(tensors));
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

template <Object* FunctionState::* field>
Object* get_tuple(Object* self, void*) {
  Object* tuple = state_of(self).*field;
  return Py_NewRef(tuple ? tuple : Py_None);
}

template <Object* FunctionState::* field>
int assign_tuple(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    if (!value || !(value == Py_None || PyTuple_Check(value))) fail_type("expected a tuple of tensors");
    Object* old = std::exchange(state_of(self).*field, value == Py_None ? nullptr : Py_NewRef(value));
    Py_XDECREF(old);
    return 0;
  });
}

Object* set_materialize_grads(Object* self, Object* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) return nullptr;
  state_of(self).materialize_grads = truth;
  Py_RETURN_NONE;
}
Object* get_materialize(Object* self, void*) { return PyBool_FromLong(state_of(self).materialize_grads); }
int assign_materialize(Object* self, Object* value, void*) {
  const int truth = value ? PyObject_IsTrue(value) : 0;
  if (truth < 0) return -1;
  state_of(self).materialize_grads = truth;
  return 0;
}

Object* get_saved_tensors(Object* self, void*) {
  return guarded([&] { return saved_tensors(node_of(self)); });
}

Object* get_needs_input_grad(Object* self, void*) {
  const std::vector<uint8_t>& inputs = state_of(self).inputs;
  Object* tuple = PyTuple_New(Py_ssize_t(inputs.size()));
  if (!tuple) return nullptr;
  for (size_t i = 0; i < inputs.size(); ++i)
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i), PyBool_FromLong(inputs[i] & kRequiresGrad));
  return tuple;
}

Object* clear_saved(Object* self, Object*) {
  release_function(node_of(self));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"save_for_backward", set_tuple<&FunctionState::to_save>, METH_VARARGS,
     "save_for_backward(*tensors): backward finds them in saved_tensors."},
    {"save_for_forward", set_tuple<&FunctionState::saved_for_forward>, METH_VARARGS,
     "save_for_forward(*tensors): jvp finds them in saved_tensors."},
    {"mark_dirty", set_tuple<&FunctionState::dirty>, METH_VARARGS,
     "mark_dirty(*tensors): forward changed these arguments in place and returns them."},
    {"mark_non_differentiable", set_tuple<&FunctionState::non_differentiable>, METH_VARARGS,
     "mark_non_differentiable(*tensors): these outputs have no gradient."},
    {"set_materialize_grads", set_materialize_grads, METH_O,
     "set_materialize_grads(value): whether gradients that did not arrive are zeros, not None."},
    {"maybe_clear_saved_tensors", clear_saved, METH_NOARGS, "Lets go of saved_tensors."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef getset[] = {
    {"saved_tensors", get_saved_tensors, nullptr, "What save_for_backward was given.", nullptr},
    {"needs_input_grad", get_needs_input_grad, nullptr, "For each argument of forward, whether it requires grad.",
     nullptr},
    {"to_save", get_tuple<&FunctionState::to_save>, assign_tuple<&FunctionState::to_save>, nullptr, nullptr},
    {"dirty_tensors", get_tuple<&FunctionState::dirty>, assign_tuple<&FunctionState::dirty>, nullptr, nullptr},
    {"non_differentiable", get_tuple<&FunctionState::non_differentiable>,
     assign_tuple<&FunctionState::non_differentiable>, nullptr, nullptr},
    {"saved_for_forward", get_tuple<&FunctionState::saved_for_forward>, assign_tuple<&FunctionState::saved_for_forward>,
     nullptr, nullptr},
    {"materialize_grads", get_materialize, assign_materialize, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Node, function) + offsetof(FunctionPart, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Node, function) + offsetof(FunctionPart, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

void dealloc(Object* self) {
  if (node_of(self).function.weakrefs) PyObject_ClearWeakRefs(self);
  node_dealloc(self);
}

PyTypeObject* ctx_type = nullptr;  // the base of the nodes of all Functions

}  // namespace

PyTypeObject* make_function_node_type(const char* name) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
      {0, nullptr},
  };
  return make_node_subtype(name, slots, ctx_type);
}

void init_function_node(Object* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
      {Py_tp_methods, methods},
      {Py_tp_getset, getset},
      {Py_tp_members, members},
      {0, nullptr},
  };
  ctx_type = make_node_subtype("torch.autograd.function.BackwardCFunction", slots, nullptr);
  checked(PyModule_AddObjectRef(module, "_BackwardCFunction", reinterpret_cast<Object*>(ctx_type)));
}

}  // namespace vivace
