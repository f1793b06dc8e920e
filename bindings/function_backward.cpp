// The backward of a custom Function, and what its forward saved for it.
#include "bindings/convert.h"
#include "bindings/function.h"
#include "bindings/saved_hooks.h"
#include "runtime/autograd/explain.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"

namespace vivace {
namespace {

FunctionSave save(Node& node, Object* o, Py_ssize_t position) {
  FunctionSave s;
  if (o == Py_None) return s;
  if (!is_tensor(o))
    fail_type("save_for_backward can only save variables, but argument ", position, " is of type ",
              Py_TYPE(o)->tp_name);
  Tensor& t = tensor_of(o);
  if (is_inference(t)) refuse_inference_save();
  if (t.grad_fn == &node) s.output = int32_t(t.output_nr);
  t.keys |= bit(Key::Watched);
  if (!saved_hooks().empty()) {
    const TensorRef data = s.output >= 0 ? alias(t) : TensorRef::share(&t);
    s.object = python_hooks.pack(*data);
    s.packed = true;
    if (s.output < 0) s.edge = make_edge(&t);
  } else {
    // Never an output itself, or the node and it would keep each other alive.
    s.object = s.output >= 0 ? static_cast<Object*>(alias(t).release()) : Py_NewRef(o);
  }
  s.version = *t.version_;
  return s;
}

Ref<Object> unpack(Node& node, const FunctionSave& s, Py_ssize_t position) {
  if (!s.object) return Ref<Object>::share(Py_None);
  const Edge edge = s.output >= 0 ? Edge(&node, uint32_t(s.output)) : s.edge;
  if (s.packed) return Ref<Object>::steal(with_edge(*python_hooks.unpack(s.object), edge).release());
  Tensor& t = tensor_of(s.object);
  if (*t.version_ != s.version) refuse_modified(node, t, s.version, str("saved tensor ", position));
  if (s.output < 0) return Ref<Object>::share(s.object);
  return Ref<Object>::steal(with_edge(t, edge).release());
}

/// Takes the user's gradients, one per argument of forward.
void take_gradients(const Node& node, Object* result, Tensor** out) {
  const std::vector<uint8_t>& inputs = node.extra->function->inputs;
  const bool single = !PyTuple_Check(result);
  Object* only[] = {result};
  Object* const* given = single ? only : reinterpret_cast<PyTupleObject*>(result)->ob_item;
  const size_t n = single ? 1 : size_t(PyTuple_GET_SIZE(result));
  bool fits = n >= inputs.size();
  for (size_t i = inputs.size(); i < n; ++i) fits &= given[i] == Py_None;
  if (!fits)
    fail("function ", node.info->name, " returned an incorrect number of gradients (expected ", inputs.size(), ", got ",
         n, ")");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i] & kIsTensor)) {
      if (given[i] != Py_None)
        fail("function ", node.info->name, " returned a gradient different from None at position ", i + 1,
             ", but the corresponding forward input was not a Variable");
      continue;
    }
    if (given[i] != Py_None && !is_tensor(given[i]))
      fail("function ", node.info->name, ": expected Variable or None (got ", Py_TYPE(given[i])->tp_name,
           ") at position ", i + 1);
    *out++ = given[i] == Py_None ? nullptr : &tensor_of(Py_NewRef(given[i]));
  }
}

}  // namespace

void save_tensors(Node& node) {
  FunctionState& f = *node.extra->function;
  if (!f.to_save) return;
  const auto to_save = Ref<Object>::steal(std::exchange(f.to_save, nullptr));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(to_save.object()); ++i)
    f.saved.push_back(save(node, PyTuple_GET_ITEM(to_save.object(), i), i));
}

Object* saved_tensors(Node& node) {
  const FunctionState& f = *node.extra->function;
  if (f.saved_for_forward) return Py_NewRef(f.saved_for_forward);  // while jvp runs
  if (f.freed) refuse_released(node);
  const std::vector<FunctionSave>& saved = f.saved;
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(saved.size()))));
  for (size_t i = 0; i < saved.size(); ++i) {
    // An unpack hook may let go of all that the node saved.
    Object* t = unpack(node, saved[i], Py_ssize_t(i)).release();
    PyTuple_SET_ITEM(tuple.object(), Py_ssize_t(i), t);
  }
  return tuple.release();
}

void run_function_backward(Node& node, Tensor* const* grads, Tensor** out, Needs) {
  const FunctionState& f = *node.extra->function;
  const auto& kind = reinterpret_cast<const FunctionClass&>(*node.info);
  if (!f.cls) fail(node.info->name, ": the graph has been freed");
  std::vector<Ref<Object>> owned = {Ref<Object>::share(&node)};
  for (uint32_t i = 0; i < node.noutputs; ++i) {
    if (grads[i]) {
      owned.push_back(Ref<Object>::share(grads[i]));
    } else if (f.materialize_grads && f.outputs[i]) {
      const OutputMeta& meta = node.metas[i];
      TensorRef zero = empty(meta.sizes(), meta.dtype, meta.device);
      fill_into(*zero, 0);
      owned.push_back(Ref<Object>::steal(zero.release()));
    } else {
      owned.push_back(Ref<Object>::share(Py_None));
    }
  }
  const auto function = Ref<Object>::steal(checked(PyObject_GetAttr(f.cls, kind.backward_name)));
  static_assert(sizeof(Ref<Object>) == sizeof(Object*));
  const auto result = Ref<Object>::steal(checked(
      PyObject_Vectorcall(function.object(), reinterpret_cast<Object* const*>(owned.data()), owned.size(), nullptr)));
  take_gradients(node, result.object(), out);
}

}  // namespace vivace
