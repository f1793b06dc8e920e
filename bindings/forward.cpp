// Forward mode for Python: dual levels, dual tensors, and the jvp of custom Functions.
#include <algorithm>

#include "bindings/autograd.h"
#include "bindings/convert.h"
#include "bindings/function.h"
#include "bindings/tensor_attributes.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/tangent.h"
#include "runtime/autograd/view.h"
#include "runtime/vmap/batched.h"

namespace vivace {
namespace {

Tensor& tensor_argument(Object* o, const char* function) {
  if (!is_tensor(o)) fail_type(function, ": expected a Tensor, not ", Py_TYPE(o)->tp_name);
  return tensor_of(o);
}

Object* enter_level(Object*, Object*) {
  return guarded([] { return checked(PyLong_FromLong(enter_dual_level())); });
}

Object* exit_level(Object*, Object* given) {
  const long level = PyLong_AsLong(given);
  if (level == -1 && PyErr_Occurred()) return nullptr;
  return guarded([&]() -> Object* {
    if (level < 0) fail("Dual level must be a positive number.");
    exit_dual_level(int(level));
    Py_RETURN_NONE;
  });
}

Object* make_dual(Object*, Object* args) {
  Object *primal, *tangent;
  int level;
  if (!PyArg_ParseTuple(args, "OOi:_make_dual", &primal, &tangent, &level)) return nullptr;
  return guarded([&]() -> Object* {
    Tensor &p = tensor_argument(primal, "make_dual"), &t = tensor_argument(tangent, "make_dual");
    sync_tangents(p);
    sync_tangents(t);
    if (tangent_of(p, level))
      fail("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level ", level,
           " is not supported.");
    if (is_batched(p)) {  // the physical tensor carries the tangent
      const std::vector<int> at = levels_behind(p);
      const VmapDepth outside(0);
      Tensor& base = base_of(p);
      TensorRef dual = ops::view(base, base.sizes());
      set_tangent(*dual, *beside_base(t, at), level);
      return batched_at(std::move(dual), at).release();
    }
    TensorRef dual = ops::view(p, p.sizes());
    set_tangent(*dual, t, level);
    return dual.release();
  });
}

Object* unpack_dual(Object*, Object* args) {
  Object* dual;
  int level;
  if (!PyArg_ParseTuple(args, "Oi:_unpack_dual", &dual, &level)) return nullptr;
  return guarded([&]() -> Object* {
    Tensor& given = tensor_argument(dual, "unpack_dual");
    const std::vector<int> at = levels_behind(given);
    Tensor& t = base_of(given);
    sync_view(t);
    sync_tangents(t);
    Tensor* const tangent = tls.exclude & bit(Key::ForwardAD) ? nullptr : tangent_of(t, level);
    const TensorRef primal = batched_at(primal_alias(t, level), at);
    const TensorRef direction = tangent ? beside_batched(*tangent, at) : TensorRef();
    return checked(PyTuple_Pack(2, primal.object(), direction ? direction.object() : Py_None));
  });
}

/// A tensor with the values and tangents of another, and no history.
Object* detach_dual(Object*, Object* given) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_argument(given, "_detach_dual");
    sync_tangents(t);
    TensorRef cut = values_of(t);
    share_tangents(t, *cut);
    return cut.release();
  });
}

/// The tensor's tangents as (level, tangent), from the outermost level on.
Object* tangents(Object*, Object* given) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_argument(given, "_tangents");
    sync_tangents(t);
    auto list = Ref<Object>::steal(checked(PyList_New(0)));
    for (uint64_t levels = levels_of(t); levels; levels &= levels - 1) {
      const int level = __builtin_ctzll(levels);
      const auto pair = Ref<Object>::steal(checked(Py_BuildValue("iO", level, tangent_of(t, level))));
      checked(PyList_Append(list.object(), pair.object()));
    }
    return list.release();
  });
}

/// _with_tangents(tensor, [(level, tangent), ...]): the values and the history of the tensor with other tangents.
Object* with_tangents(Object*, Object* args) {
  Object *given, *list;
  if (!PyArg_ParseTuple(args, "OO!:_with_tangents", &given, &PyList_Type, &list)) return nullptr;
  return guarded([&]() -> Object* {
    TensorRef result = primal_alias(tensor_argument(given, "_with_tangents"), 0);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      int level;
      Object* tangent;
      if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "iO", &level, &tangent)) throw PythonError{};
      set_tangent(*result, tensor_argument(tangent, "_with_tangents"), level);
    }
    return result.release();
  });
}

Object* set_enabled(Object*, Object* given) {
  const int on = PyObject_IsTrue(given);
  if (on < 0) return nullptr;
  tls.exclude = on ? tls.exclude & ~bit(Key::ForwardAD) : tls.exclude | bit(Key::ForwardAD);
  Py_RETURN_NONE;
}
Object* is_enabled(Object*, Object*) { return PyBool_FromLong(!(tls.exclude & bit(Key::ForwardAD))); }

/// The tangents of the arguments at a level, as jvp gets them.
std::vector<Ref<Object>> tangents_of(const FunctionState& f, Object* const* args, Py_ssize_t nargs, int level) {
  std::vector<Ref<Object>> tangents;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    Tensor* const t = is_tensor(args[i]) ? &tensor_of(args[i]) : nullptr;
    if (Tensor* const tangent = t ? tangent_of(*t, level) : nullptr)
      tangents.push_back(Ref<Object>::share(tangent));
    else if (t && f.materialize_grads && is_differentiable(t->dtype()))
      tangents.push_back(Ref<Object>::steal(ops::zeros_like(*primal_of(*t, level)).release()));
    else
      tangents.push_back(Ref<Object>::share(Py_None));
  }
  return tangents;
}

/// The tuple with primals of the level in the place of tensors.
Ref<Object> primals_of(Object* tuple, int level) {
  auto primals = Ref<Object>::steal(checked(PyTuple_New(PyTuple_GET_SIZE(tuple))));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    Object* const o = PyTuple_GET_ITEM(tuple, i);
    Object* const item = is_tensor(o) ? primal_of(tensor_of(o), level).release() : Py_NewRef(o);
    PyTuple_SET_ITEM(primals.object(), i, item);
  }
  return primals;
}

/// Which of the objects a view looks into: -1 if none.
Py_ssize_t viewed_by(const Tensor& t, Object* const* objects, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!is_tensor(objects[i])) continue;
    const Tensor& other = tensor_of(objects[i]);
    if (t.base && (t.base == &other || t.base == other.base)) return i;
  }
  return -1;
}

/// Gives an output the tangent that jvp returned for it. What is, or shares memory with, an argument has to have a
/// tangent that does so with the argument's.
void set_output_tangent(Tensor& output, Tensor& tangent, Object* const* args, Object* const* given, Py_ssize_t nargs,
                        const FunctionState& f, int level) {
  const Py_ssize_t same = std::find(args, args + nargs, static_cast<Object*>(&output)) - args;
  if (same < nargs) {  // it was changed in place
    if (given[same] != static_cast<Object*>(&tangent))
      fail(
          "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
          "an input inplace, then the jvp function must modify the corresponding gradient inplace.");
    if (!tangent_of(output, level)) set_tangent(output, tangent, level);
    return;
  }
  const Py_ssize_t viewed = viewed_by(output, args, nargs);
  if (viewed >= 0) {
    if (!tangent.base)
      fail("A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.");
    if (viewed_by(tangent, given + viewed, 1) < 0)
      fail("A custom Function is returning a view but the jvp is not returning a view of the given grad input.");
  }
  set_tangent(output, *primal_of(tangent, level), level);
}

}  // namespace

void run_function_jvp(Node& node, Object* const* args, Py_ssize_t nargs, Object* const* outputs, Py_ssize_t noutputs,
                      uint64_t levels) {
  static Object* const jvp_name = PyUnicode_InternFromString("jvp");
  FunctionState& f = *node.extra->function;
  const auto jvp = Ref<Object>::steal(checked(PyObject_GetAttr(f.cls, jvp_name)));
  const auto saved =
      Ref<Object>::steal(f.saved_for_forward ? std::exchange(f.saved_for_forward, nullptr) : checked(PyTuple_New(0)));
  for (; levels; levels &= levels - 1) {
    const int level = __builtin_ctzll(levels);
    std::vector<Ref<Object>> given = tangents_of(f, args, nargs, level);
    given.insert(given.begin(), Ref<Object>::share(&node));
    static_assert(sizeof(Ref<Object>) == sizeof(Object*));
    auto* const objects = reinterpret_cast<Object* const*>(given.data());
    Object* old = std::exchange(f.saved_for_forward, primals_of(saved.object(), level).release());
    Py_XDECREF(old);
    const auto result = Ref<Object>::steal(checked(PyObject_Vectorcall(jvp.object(), objects, given.size(), nullptr)));
    const bool single = !PyTuple_Check(result.object());
    Object* only[] = {result.object()};
    Object* const* tangents = single ? only : reinterpret_cast<PyTupleObject*>(result.object())->ob_item;
    const Py_ssize_t n = single ? 1 : PyTuple_GET_SIZE(result.object());
    if (n != noutputs)
      fail("Function's jvp returned an invalid number of forward gradients (expected ", noutputs, " but got ", n, ")");
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (tangents[i] == Py_None || !is_tensor(outputs[i])) continue;
      if (!is_tensor(tangents[i]))
        fail("expected Variable or None (got ", Py_TYPE(tangents[i])->tp_name, ") for grad output ", i, ".");
      Tensor& output = tensor_of(outputs[i]);
      if (is_differentiable(output.dtype()))
        set_output_tangent(output, tensor_of(tangents[i]), args, objects + 1, nargs, f, level);
    }
  }
}

PyMethodDef kForwardFunctions[] = {
    {"_enter_dual_level", enter_level, METH_NOARGS, "Opens a level of forward mode inside those that are open."},
    {"_exit_dual_level", exit_level, METH_O, "Closes the innermost level; its tangents go."},
    {"_make_dual", make_dual, METH_VARARGS, "_make_dual(primal, tangent, level): a view of primal with a tangent."},
    {"_unpack_dual", unpack_dual, METH_VARARGS, "_unpack_dual(tensor, level): (primal, tangent or None)."},
    {"_detach_dual", detach_dual, METH_O, "The tensor's values and tangents, without history."},
    {"_tangents", tangents, METH_O, "[(level, tangent), ...] of a tensor, from the outermost level on."},
    {"_with_tangents", with_tangents, METH_VARARGS, "A tensor's values and history, with the tangents given."},
    {"_set_fwd_grad_enabled", set_enabled, METH_O, "Whether operators of this thread see tangents."},
    {"_is_fwd_grad_enabled", is_enabled, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace vivace
