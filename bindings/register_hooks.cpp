// Registration of hooks at tensors and nodes.
#include "bindings/register_hooks.h"
#include "bindings/convert.h"
#include "bindings/node_type.h"
#include "runtime/autograd/node_object.h"
#include "runtime/autograd/view.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

/// Adds a callable to a dict of hooks, which is made if there is none; returns a RemovableHandle.
Object* add_hook(Object*& hooks, Object* hook) {
  static long long next_id = 0;
  if (!PyCallable_Check(hook)) fail_type("a hook must be callable, not ", Py_TYPE(hook)->tp_name);
  if (!hooks) hooks = checked(PyDict_New());
  const auto key = Ref<Object>::steal(checked(PyLong_FromLongLong(next_id++)));
  checked(PyDict_SetItem(hooks, key.object(), hook));
  const auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.utils.hooks")));
  return checked(PyObject_CallMethod(module.object(), "_handle_for", "OO", hooks, key.object()));
}

/// The dict of hooks of one output.
Object* of_output(Object*& by_output, uint32_t nr) {
  if (!by_output) by_output = checked(PyDict_New());
  const auto key = Ref<Object>::steal(checked(PyLong_FromUnsignedLong(nr)));
  Object* hooks = PyDict_GetItemWithError(by_output, key.object());
  if (hooks) return hooks;
  if (PyErr_Occurred()) throw PythonError{};
  const auto fresh = Ref<Object>::steal(checked(PyDict_New()));
  checked(PyDict_SetItem(by_output, key.object(), fresh.object()));
  return fresh.object();
}

Node& as_node(Object* o) {
  if (!is_node(o)) fail("the leaf of this AccumulateGrad is gone");
  return *reinterpret_cast<Node*>(o);
}

void check_requires_grad(Tensor& t) {
  sync_view(t);
  if (!t.requires_grad()) fail("cannot register a hook on a tensor that doesn't require gradient");
}

}  // namespace

Object* register_hook(Object* self, Object* hook) {
  return guarded([&] {
    Tensor& t = tensor_of(self);
    check_requires_grad(t);
    // The hooks of a leaf stand in the tensor; those of other tensors in their node, by output number.
    if (t.is_leaf()) return add_hook(extra(t).hooks, hook);
    Object* hooks = of_output(node_extra(*t.grad_fn).tensor_hooks, t.output_nr);
    return add_hook(hooks, hook);
  });
}

Object* register_post_accumulate_grad_hook(Object* self, Object* hook) {
  return guarded([&] {
    Tensor& t = tensor_of(self);
    check_requires_grad(t);
    if (!t.is_leaf()) fail("post accumulate grad hooks cannot be registered on non-leaf tensors");
    return add_hook(extra(t).post_accumulate_hooks, hook);
  });
}

Object* retain_grad(Object* self, Object*) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_of(self);
    sync_view(t);
    if (!t.requires_grad()) fail("can't retain_grad on Tensor that has requires_grad=False");
    if (t.is_leaf() || (t.extra && t.extra->retains_grad)) Py_RETURN_NONE;
    const auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.utils.hooks")));
    const auto hook = Ref<Object>::steal(checked(PyObject_CallMethod(module.object(), "_retain_grad_hook", "O", self)));
    Object* hooks = of_output(node_extra(*t.grad_fn).retain_hooks, t.output_nr);
    Py_DECREF(add_hook(hooks, hook.object()));
    extra(t).retains_grad = true;
    Py_RETURN_NONE;
  });
}

Object* get_backward_hooks(Object* self, void*) {
  const TensorExtra* e = tensor_of(self).extra;
  return Py_NewRef(e && e->hooks ? e->hooks : Py_None);
}

Object* node_register_hook(Object* self, Object* hook) {
  return guarded([&] {
    if (Tensor* leaf = leaf_of(self)) return add_hook(extra(*leaf).accumulate_post_hooks, hook);
    return add_hook(node_extra(as_node(self)).post_hooks, hook);
  });
}

Object* node_register_prehook(Object* self, Object* hook) {
  return guarded([&] {
    if (Tensor* leaf = leaf_of(self)) return add_hook(extra(*leaf).accumulate_pre_hooks, hook);
    return add_hook(node_extra(as_node(self)).pre_hooks, hook);
  });
}

Object* node_metadata(Object* self, void*) {
  return guarded([&] {
    Object*& metadata = node_extra(as_node(self)).metadata;
    if (!metadata) metadata = checked(PyDict_New());
    return Py_NewRef(metadata);
  });
}

}  // namespace vivace
