// Runs Python hooks for the engine. The hooks of a dict are taken in order of registration from a copy, so that they
// may remove themselves.
#include "runtime/autograd/hooks.h"

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
  const auto text = Ref<Object>::steal(checked(PyObject_Repr(hook)));
  const char* utf8 = PyUnicode_AsUTF8(text.object());
  if (!utf8) throw PythonError{};
  return utf8;
}

/// grad after all hooks of a dict; each may return a replacement.
TensorRef through_hooks(Object* hooks, TensorRef grad) {
  for_each_hook(hooks, [&](Object* hook) {
    auto result = Ref<Object>::steal(checked(PyObject_CallOneArg(hook, or_none(grad.get()))));
    if (result.object() == Py_None) return;
    if (!is_tensor(result.object()))
      fail_type("a tensor hook has to return a Tensor or None, not ", Py_TYPE(result.get())->tp_name);
    auto* replacement = &tensor_of(result.release());
    auto owner = TensorRef::steal(replacement);
    if (str(replacement->sizes()) != str(grad->sizes()))
      fail("hook ", name_of(hook), " has changed the size of value from ", grad->sizes(), " to ", replacement->sizes());
    grad = std::move(owner);
  });
  return grad;
}

Ref<Object> tuple_of(Tensor* const* grads, uint32_t n) {
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(n)));
  for (uint32_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.object(), i, Py_NewRef(or_none(grads[i])));
  return tuple;
}

/// Takes a hook's answer: None, or as many gradients as there were.
void replace(Tensor** grads, uint32_t n, Object* answer) {
  if (answer == Py_None) return;
  if (n == 1 && is_tensor(answer)) {
    Tensor* old = std::exchange(grads[0], &tensor_of(Py_NewRef(answer)));
    Py_XDECREF(old);
    return;
  }
  if (!PyTuple_Check(answer) || PyTuple_GET_SIZE(answer) != Py_ssize_t(n))
    fail("a hook of a node has to return None or a tuple of ", n, " gradients");
  for (uint32_t i = 0; i < n; ++i) {
    Object* item = PyTuple_GET_ITEM(answer, i);
    if (item != Py_None && !is_tensor(item))
      fail_type("a hook of a node returned ", Py_TYPE(item)->tp_name, " as gradient ", i);
    Tensor* old = std::exchange(grads[i], item == Py_None ? nullptr : &tensor_of(Py_NewRef(item)));
    Py_XDECREF(old);
  }
}

void pre_hooks(Object* hooks, Tensor** grads, uint32_t n) {
  for_each_hook(hooks, [&](Object* hook) {
    const Ref<Object> incoming = tuple_of(grads, n);
    auto answer = Ref<Object>::steal(checked(PyObject_CallOneArg(hook, incoming.object())));
    replace(grads, n, answer.object());
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
  for_each_hook(leaf.extra->post_accumulate_hooks,
                [&](Object* hook) { Ref<Object>::steal(checked(PyObject_CallOneArg(hook, &leaf))); });
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
    replace(outgoing, node.nedges, answer.object());
  });
}

}  // namespace vivace
