#include "bindings/autograd.h"

#include <vector>

#include "bindings/convert.h"
#include "bindings/frame.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/hooks.h"
#include "runtime/autograd/node_object.h"
#include "runtime/autograd/view.h"

namespace vivace {
namespace {

/// A tensor, or a list or tuple of tensors and (if allowed) None.
std::vector<Tensor*> unwrap_tensors(Object* o, bool with_none, const char* what) {
  std::vector<Tensor*> tensors;
  if (o == Py_None) return tensors;
  if (is_tensor(o)) return {&tensor_of(o)};
  auto list = Ref<Object>::steal(PySequence_Fast(o, "expected a tensor or a sequence of tensors"));
  if (!list) throw PythonError{};
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.object()); ++i) {
    Object* item = PySequence_Fast_GET_ITEM(list.object(), i);
    if (item == Py_None && with_none)
      tensors.push_back(nullptr);
    else if (is_tensor(item))
      tensors.push_back(&tensor_of(item));
    else
      fail_type("backward: ", what, " must be tensors", with_none ? " or None" : "", ", but element ", i, " is ",
                Py_TYPE(item)->tp_name);
  }
  return tensors;
}

bool flag(Object* o, bool otherwise) {
  if (!o || o == Py_None) return otherwise;
  const int truth = PyObject_IsTrue(o);
  checked(truth);
  return truth;
}

Object* run_backward_function(Object*, Object* args, Object* kwargs) {
  static const char* names[] = {"tensors", "grad_tensors", "keep_graph", "create_graph",
                                "inputs",  "allow_unused", "accumulate", nullptr};
  Object *tensors, *grads = Py_None, *inputs = Py_None;
  int keep = 0, create = 0, unused = 1, accumulate = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OppOpp:run_backward", const_cast<char**>(names), &tensors, &grads,
                                   &keep, &create, &inputs, &unused, &accumulate))
    return nullptr;
  return guarded([&]() -> Object* {
    const auto roots = unwrap_tensors(tensors, false, "tensors"), gradients = unwrap_tensors(grads, true, "gradients"),
               wanted = unwrap_tensors(inputs, false, "inputs");
    const BackwardOptions options = {bool(keep), bool(create), bool(unused), bool(accumulate)};
    std::vector<TensorRef> results = run_backward(roots, gradients, wanted, options);
    if (accumulate) Py_RETURN_NONE;
    auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(results.size()))));
    for (size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(tuple.object(), i, results[i] ? static_cast<Object*>(results[i].release()) : Py_NewRef(Py_None));
    return tuple.release();
  });
}

/// Adds a callable to a dict of hooks; returns its key.
Object* add_hook(Object* hooks, Object* hook) {
  static long long next_id = 0;
  if (!PyCallable_Check(hook)) fail_type("a hook must be callable, not ", Py_TYPE(hook)->tp_name);
  auto key = Ref<Object>::steal(checked(PyLong_FromLongLong(next_id++)));
  checked(PyDict_SetItem(hooks, key.object(), hook));
  return key.release();
}

/// A RemovableHandle for a hook that was added to `hooks` under `key`.
Object* removable_handle(Object* hooks, Ref<Object> key) {
  auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.utils.hooks")));
  return checked(PyObject_CallMethod(module.object(), "_handle_for", "OO", hooks, key.object()));
}

/// The hooks of a leaf stand in the tensor; those of other tensors in their node, by output number.
Object* hooks_of(Tensor& t) {
  sync_view(t);
  if (!t.requires_grad()) fail("cannot register a hook on a tensor that doesn't require gradient");
  if (t.is_leaf()) {
    Object*& hooks = extra(t).hooks;
    if (!hooks) hooks = checked(PyDict_New());
    return hooks;
  }
  Object*& by_output = node_extra(*t.grad_fn).tensor_hooks;
  if (!by_output) by_output = checked(PyDict_New());
  auto key = Ref<Object>::steal(checked(PyLong_FromUnsignedLong(t.output_nr)));
  Object* hooks = PyDict_GetItemWithError(by_output, key.object());
  if (hooks) return hooks;
  auto fresh = Ref<Object>::steal(checked(PyDict_New()));
  checked(PyDict_SetItem(by_output, key.object(), fresh.object()));
  return fresh.object();
}

void capture_line(Object** code, int32_t* lasti) { vivace_capture_line(code, lasti); }

std::string describe_line(Object* code, int32_t lasti) {
  auto* c = reinterpret_cast<PyCodeObject*>(code);
  const char *file = PyUnicode_AsUTF8(c->co_filename), *function = PyUnicode_AsUTF8(c->co_qualname);
  return str(file ? file : "?", ":", PyCode_Addr2Line(c, lasti), " in ", function ? function : "?");
}

Object* set_package_folder(Object*, Object* folder) {
  if (vivace_set_package_folder(folder) < 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

Object* tensor_backward(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&]() -> Object* {
    static const char* const names[] = {"gradient", "retain_graph", "create_graph", "inputs"};
    Object* given[4] = {nullptr, nullptr, nullptr, nullptr};
    if (nargs > 4) fail_type("backward() takes at most 4 arguments, got ", nargs);
    for (Py_ssize_t i = 0; i < nargs; ++i) given[i] = args[i];
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
      int i = 0;
      while (i < 4 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), names[i]) != 0) ++i;
      if (i == 4)
        fail_type("backward() got an unexpected keyword argument '", PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, k)),
                  "'");
      given[i] = args[nargs + k];
    }
    Tensor* root = &tensor_of(self);
    Tensor* gradient = nullptr;
    if (given[0] && given[0] != Py_None) {
      if (!is_tensor(given[0]))
        fail_type("gradients can be either Tensors or None, but got ", Py_TYPE(given[0])->tp_name);
      gradient = &tensor_of(given[0]);
    }
    BackwardOptions options;
    options.create_graph = flag(given[2], false);
    options.keep_graph = flag(given[1], options.create_graph);
    std::vector<Tensor*> inputs;
    if (given[3] && given[3] != Py_None) {
      inputs = unwrap_tensors(given[3], false, "inputs");
      if (inputs.empty()) fail("'inputs' argument to backward() cannot be empty");
    }
    run_backward({&root, 1}, {&gradient, 1}, inputs, options);
    Py_RETURN_NONE;
  });
}

Object* register_hook(Object* self, Object* hook) {
  return guarded([&] {
    Object* hooks = hooks_of(tensor_of(self));
    return removable_handle(hooks, Ref<Object>::steal(add_hook(hooks, hook)));
  });
}

Object* register_post_accumulate_grad_hook(Object* self, Object* hook) {
  return guarded([&] {
    Tensor& t = tensor_of(self);
    hooks_of(t);
    if (!t.is_leaf()) fail("post accumulate grad hooks cannot be registered on non-leaf tensors");
    Object*& hooks = extra(t).post_accumulate_hooks;
    if (!hooks) hooks = checked(PyDict_New());
    return removable_handle(hooks, Ref<Object>::steal(add_hook(hooks, hook)));
  });
}

Object* retain_grad(Object* self, Object*) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_of(self);
    sync_view(t);
    if (!t.requires_grad()) fail("can't retain_grad on Tensor that has requires_grad=False");
    if (t.is_leaf() || (t.extra && t.extra->retains_grad)) Py_RETURN_NONE;
    auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.utils.hooks")));
    auto hook = Ref<Object>::steal(checked(PyObject_CallMethod(module.object(), "_retain_grad_hook", "O", self)));
    auto key = Ref<Object>::steal(add_hook(hooks_of(t), hook.object()));
    extra(t).retains_grad = true;
    Py_RETURN_NONE;
  });
}

PyMethodDef kAutogradFunctions[] = {
    {"run_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_backward_function)),
     METH_VARARGS | METH_KEYWORDS,
     "run_backward(tensors, grad_tensors=None, keep_graph=False, create_graph=False, inputs=None, allow_unused=True, "
     "accumulate=True)"},
    {"_set_package_folder", set_package_folder, METH_O,
     "Frames of code below this folder are passed over when a forward line is noted."},
    {nullptr, nullptr, 0, nullptr},
};

void init_autograd(Object*) {
  python_hooks.capture_line = capture_line;
  python_hooks.describe_line = describe_line;
}

}  // namespace vivace
