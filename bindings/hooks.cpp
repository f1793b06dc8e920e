// Runs Python hooks for the engine. The hooks of a dict are taken in order of registration from a copy, so that they
// may remove themselves.
#include "runtime/autograd/hooks.h"

#include <algorithm>

#include "bindings/convert.h"
#include "runtime/autograd/node_object.h"

namespace vivace {
namespace {

Object* or_none(Tensor* t) { return t ? static_cast<Object*>(t) : Py_None; }

template <class F>
void for_each_hook(Object* hooks, F&& f) {
  if (!hooks || PyDict_GET_SIZE(hooks) == 0) return;
  auto copy = Ref<Object>::steal(checked(PyDict_Values(hooks)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(copy.object()); ++i) f(PyList_GET_ITEM(copy.object(), i));
}

std::string name_of(Object* hook) {
  const auto name = Ref<Object>::steal(PyObject_GetAttrString(hook, "__name__"));
  if (!name) PyErr_Clear();  // an object that can be called need not have one
  const char* utf8 = name ? PyUnicode_AsUTF8(name.object()) : Py_TYPE(hook)->tp_name;
  if (!utf8) throw PythonError{};
  return utf8;
}

/// "torch.FloatTensor".
std::string type_name(Tensor& t) {
  const auto name = Ref<Object>::steal(checked(PyObject_CallMethod(&t, "type", nullptr)));
  return PyUnicode_AsUTF8(name.object());
}

bool same_kind(Tensor& a, Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.device() == b.device())) return false;
  if (is_tensor_exact(&a) && is_tensor_exact(&b)) return true;
  const auto first = Ref<Object>::steal(checked(PyObject_GetAttrString(&a, "layout")));
  const auto second = Ref<Object>::steal(checked(PyObject_GetAttrString(&b, "layout")));
  return first.get() == second.get();
}

/// What a hook returned in the place of a gradient: as PyTorch has it, of the same type and size.
TensorRef replacement(Object* hook, Tensor* grad, Object* returned) {
  if (!grad) fail("can't replace a None gradient with a non-None value");
  if (!is_tensor(returned)) fail_type("expected Variable, but hook returned '", Py_TYPE(returned)->tp_name, "'");
  TensorRef fresh = TensorRef::share(&tensor_of(returned));
  if (!same_kind(*grad, *fresh))
    fail("hook '", name_of(hook), "' has changed the type of value (was ", type_name(*grad), " got ", type_name(*fresh),
         ")");
  if (!std::ranges::equal(fresh->sizes(), grad->sizes()))
    fail("hook '", name_of(hook), "' has changed the size of value from ", grad->sizes(), " to ", fresh->sizes());
  return fresh;
}

/// grad after all hooks of a dict; each may return a replacement.
TensorRef through_hooks(Object* hooks, TensorRef grad) {
  for_each_hook(hooks, [&](Object* hook) {
    const auto result = Ref<Object>::steal(checked(PyObject_CallOneArg(hook, or_none(grad.get()))));
    if (result.object() != Py_None) grad = replacement(hook, grad.get(), result.object());
  });
  return grad;
}

Ref<Object> tuple_of(Tensor* const* grads, uint32_t n) {
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(n)));
  for (uint32_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.object(), i, Py_NewRef(or_none(grads[i])));
  return tuple;
}

/// Takes the answer of a node's hook: None, or as many gradients as there were.
void replace(Object* hook, Tensor** grads, uint32_t n, Object* answer) {
  if (answer == Py_None) return;
  if (!PyTuple_Check(answer)) fail_type("expected tuple, but hook returned '", Py_TYPE(answer)->tp_name, "'");
  if (PyTuple_GET_SIZE(answer) != Py_ssize_t(n))
    fail("hook '", name_of(hook), "' has returned an incorrect number of values (got ", PyTuple_GET_SIZE(answer),
         ", but expected ", n, ")");
  for (uint32_t i = 0; i < n; ++i) {
    Object* item = PyTuple_GET_ITEM(answer, i);
    TensorRef fresh = item == Py_None ? TensorRef() : replacement(hook, grads[i], item);
    const auto old = TensorRef::steal(std::exchange(grads[i], fresh.release()));
  }
}

void pre_hooks(Object* hooks, Tensor** grads, uint32_t n) {
  for_each_hook(hooks, [&](Object* hook) {
    const Ref<Object> incoming = tuple_of(grads, n);
    auto answer = Ref<Object>::steal(checked(PyObject_CallOneArg(hook, incoming.object())));
    replace(hook, grads, n, answer.object());
  });
}

}  // namespace

TensorRef run_tensor_hooks(Tensor& t, TensorRef grad) {
  return t.extra && t.extra->hooks ? through_hooks(t.extra->hooks, std::move(grad)) : std::move(grad);
}

TensorRef run_accumulate_pre_hooks(Tensor& leaf, TensorRef grad) {
  static_assert(sizeof(TensorRef) == sizeof(Tensor*));
  pre_hooks(leaf.extra->accumulate_pre_hooks, reinterpret_cast<Tensor**>(&grad), 1);
  return grad;
}

void run_post_accumulate_hooks(Tensor& leaf, Tensor* added) {
  for_each_hook(leaf.extra->post_accumulate_hooks, [&](Object* hook) {
    const auto result = Ref<Object>::steal(checked(PyObject_CallOneArg(hook, &leaf)));
    if (result.object() != Py_None) replacement(hook, &leaf, result.object());  // checked, and not used
  });
  for_each_hook(leaf.extra->accumulate_post_hooks, [&](Object* hook) {
    const Ref<Object> none = tuple_of(nullptr, 0), in = tuple_of(&added, 1);
    Ref<Object>::steal(checked(PyObject_CallFunctionObjArgs(hook, none.object(), in.object(), nullptr)));
  });
}

void run_tensor_hooks(Node& node, Tensor** grads) {
  for (Object* by_output : {node.extra->tensor_hooks, node.extra->retain_hooks}) {
    if (!by_output) continue;
    const auto kept = Ref<Object>::share(by_output);
    for (uint32_t nr = 0; nr < node.noutputs; ++nr) {
      if (!grads[nr]) continue;
      const auto key = Ref<Object>::steal(checked(PyLong_FromUnsignedLong(nr)));
      Object* hooks = PyDict_GetItemWithError(by_output, key.object());
      if (hooks) grads[nr] = through_hooks(hooks, TensorRef::steal(std::exchange(grads[nr], nullptr))).release();
    }
  }
}

void run_node_pre_hooks(Node& node, Tensor** grads) { pre_hooks(node.extra->pre_hooks, grads, node.noutputs); }

void move_retain_hook(Node& from, uint32_t from_nr, Node& to, uint32_t to_nr) {
  if (!from.extra || !from.extra->retain_hooks) return;
  const auto old_key = Ref<Object>::steal(checked(PyLong_FromUnsignedLong(from_nr)));
  const auto new_key = Ref<Object>::steal(checked(PyLong_FromUnsignedLong(to_nr)));
  const auto hooks = Ref<Object>::share(PyDict_GetItemWithError(from.extra->retain_hooks, old_key.object()));
  if (!hooks) return;
  checked(PyDict_DelItem(from.extra->retain_hooks, old_key.object()));
  Object*& by_output = node_extra(to).retain_hooks;
  if (!by_output) by_output = checked(PyDict_New());
  checked(PyDict_SetItem(by_output, new_key.object(), hooks.object()));
}

void call_back(Object* function) { Ref<Object>::steal(checked(PyObject_CallNoArgs(function))); }

void run_node_post_hooks(Node& node, Tensor** outgoing, Tensor* const* incoming) {
  for_each_hook(node.extra->post_hooks, [&](Object* hook) {
    const Ref<Object> out = tuple_of(outgoing, node.nedges), in = tuple_of(incoming, node.noutputs);
    auto answer = Ref<Object>::steal(checked(PyObject_CallFunctionObjArgs(hook, out.object(), in.object(), nullptr)));
    replace(hook, outgoing, node.nedges, answer.object());
  });
}

}  // namespace vivace
