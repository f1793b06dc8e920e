// Tensor.backward, autograd.grad and hooks: arguments to endpoints and back; deep recursion goes on in a fresh thread.
#include "bindings/autograd.h"

#include <exception>
#include <thread>
#include <vector>

#include "bindings/convert.h"
#include "bindings/frame.h"
#include "bindings/function.h"
#include "bindings/node_type.h"
#include "bindings/saved_hooks.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/view.h"
#include "runtime/profiler/recorder.h"

namespace vivace {
namespace {

/// A GradientEdge: a tuple of a node and which of its outputs is meant.
bool is_gradient_edge(Object* o) {
  return PyTuple_Check(o) && PyTuple_GET_SIZE(o) >= 2 &&
         (is_node(PyTuple_GET_ITEM(o, 0)) || leaf_of(PyTuple_GET_ITEM(o, 0)));
}

Endpoint unwrap_edge(Object* o) {
  Object* node = PyTuple_GET_ITEM(o, 0);
  if (Tensor* leaf = leaf_of(node)) return {leaf, {}};
  const unsigned long nr = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(o, 1));
  if (PyErr_Occurred()) throw PythonError{};
  Node& of = *reinterpret_cast<Node*>(node);
  if (nr >= of.noutputs) fail_index("GradientEdge: ", of.info->name, " has no output ", nr);
  return {nullptr, Edge(&of, uint32_t(nr))};
}

/// Calls f with each item of a list or tuple, or with a tensor or edge that stands alone; not for None.
template <class F>
void for_each_item(Object* o, F&& f) {
  if (o == Py_None) return;
  if (is_tensor(o) || is_gradient_edge(o)) return f(o, 0);
  const auto list = Ref<Object>::steal(checked(PySequence_Fast(o, "expected a tensor or a sequence of tensors")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.object()); ++i)
    f(PySequence_Fast_GET_ITEM(list.object(), i), i);
}

/// Tensors, or GradientEdges.
std::vector<Endpoint> unwrap_endpoints(Object* o, const char* what) {
  std::vector<Endpoint> endpoints;
  for_each_item(o, [&](Object* item, Py_ssize_t i) {
    if (is_tensor(item))
      endpoints.push_back({&tensor_of(item), {}});
    else if (is_gradient_edge(item))
      endpoints.push_back(unwrap_edge(item));
    else
      fail_type("backward: ", what, " must be tensors, but element ", i, " is ", Py_TYPE(item)->tp_name);
  });
  return endpoints;
}

/// Tensors, null for None.
std::vector<Tensor*> unwrap_gradients(Object* o) {
  std::vector<Tensor*> tensors;
  for_each_item(o, [&](Object* item, Py_ssize_t i) {
    if (item != Py_None && !is_tensor(item))
      fail_type("backward: gradients must be tensors or None, but element ", i, " is ", Py_TYPE(item)->tp_name);
    tensors.push_back(item == Py_None ? nullptr : &tensor_of(item));
  });
  return tensors;
}

bool flag(Object* o, bool otherwise) {
  if (!o || o == Py_None) return otherwise;
  const int truth = PyObject_IsTrue(o);
  checked(truth);
  return truth;
}

/// Backwards inside backwards go on in a fresh thread, with a stack of its own, when they are this deep.
constexpr int kDepthPerThread = 60;
thread_local int depth = 0;

std::vector<TensorRef> run_in_thread(std::span<const Endpoint> roots, TensorList gradients,
                                     std::span<const Endpoint> inputs, const BackwardOptions& options) {
  std::vector<TensorRef> results;
  std::exception_ptr failure;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  const ThreadState state = tls;
  profiler::Recorder* const recorder = profiler::here;
  const SavedHooksStack hooks = saved_hooks();
  PyThreadState* waiting = PyEval_SaveThread();
  std::thread([&] {
    const PyGILState_STATE gil = PyGILState_Ensure();
    tls = state;
    profiler::here = recorder;
    saved_hooks() = hooks;
    depth = 1;
    try {
      results = run_backward(roots, gradients, inputs, options);
    } catch (...) {
      failure = std::current_exception();
      PyErr_Fetch(&type, &value, &traceback);
    }
    saved_hooks().clear();
    PyGILState_Release(gil);
  }).join();
  PyEval_RestoreThread(waiting);
  if (type) PyErr_Restore(type, value, traceback);
  if (failure) std::rethrow_exception(failure);
  return results;
}

std::vector<TensorRef> run_nested(std::span<const Endpoint> roots, TensorList gradients,
                                  std::span<const Endpoint> inputs, const BackwardOptions& options) {
  if (depth >= kDepthPerThread) [[unlikely]]
    return run_in_thread(roots, gradients, inputs, options);
  struct Deeper {
    Deeper() { ++depth; }
    ~Deeper() { --depth; }
  } deeper;
  return run_backward(roots, gradients, inputs, options);
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
    const auto roots = unwrap_endpoints(tensors, "tensors"), wanted = unwrap_endpoints(inputs, "inputs");
    const auto gradients = unwrap_gradients(grads);
    const BackwardOptions options = {bool(keep), bool(create), bool(unused), bool(accumulate)};
    std::vector<TensorRef> results = run_nested(roots, gradients, wanted, options);
    if (accumulate) Py_RETURN_NONE;
    auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(results.size()))));
    for (size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(tuple.object(), i, results[i] ? static_cast<Object*>(results[i].release()) : Py_NewRef(Py_None));
    return tuple.release();
  });
}

std::string describe_line(Object* code, int32_t lasti) {
  auto* c = reinterpret_cast<PyCodeObject*>(code);
  const char *file = PyUnicode_AsUTF8(c->co_filename), *function = PyUnicode_AsUTF8(c->co_qualname);
  return str(file ? file : "?", ":", PyCode_Addr2Line(c, lasti), " in ", function ? function : "?");
}

void add_note(const std::string& text) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  // A note is an extra: if it can't be added, the exception itself must not be lost.
  Object* done = PyObject_CallMethod(value, "add_note", "s", text.c_str());
  if (!done) PyErr_Clear();
  Py_XDECREF(done);
  PyErr_Restore(type, value, traceback);
}

Object* get_current_run(Object*, Object*) { return PyLong_FromUnsignedLongLong(current_run()); }

Object* will_compute_function(Object*, Object* target) {
  return guarded([&] {
    const auto endpoints = unwrap_endpoints(target, "target");
    if (endpoints.size() != 1) fail_type("_will_compute() expects one tensor or GradientEdge");
    Endpoint e = endpoints[0];
    if (e.tensor && e.tensor->grad_fn) e = {nullptr, Edge(e.tensor->grad_fn, e.tensor->output_nr)};
    return PyBool_FromLong(will_compute(e));
  });
}

Object* is_selective(Object*, Object*) {
  return guarded([&] { return PyBool_FromLong(run_is_selective()); });
}

Object* queue_callback(Object*, Object* function) {
  return guarded([&]() -> Object* {
    call_after_run(function);
    Py_RETURN_NONE;
  });
}

Object* set_anomaly(Object*, Object* args) {
  int enabled, check_nan = 1;
  if (!PyArg_ParseTuple(args, "p|p:_set_anomaly", &enabled, &check_nan)) return nullptr;
  anomaly_mode = {bool(enabled), bool(check_nan)};
  Py_RETURN_NONE;
}
Object* get_anomaly(Object*, Object*) {
  return Py_BuildValue("(NN)", PyBool_FromLong(anomaly_mode.enabled), PyBool_FromLong(anomaly_mode.check_nan));
}

/// What next_functions shows for a tensor: its node, or the AccumulateGrad of a leaf.
Object* gradient_node(Object*, Object* tensor) {
  return guarded([&] {
    if (!is_tensor(tensor)) fail_type("expected a tensor, got ", Py_TYPE(tensor)->tp_name);
    Tensor& t = tensor_of(tensor);
    sync_view(t);
    if (!t.requires_grad())
      fail("It is not possible to get the gradient edge for a Tensor that does not require gradients");
    return t.grad_fn ? Py_NewRef(static_cast<Object*>(t.grad_fn)) : accumulate_grad(t);
  });
}

Object* increment_version(Object*, Object* tensors) {
  return guarded([&]() -> Object* {
    for_each_item(tensors, [&](Object* item, Py_ssize_t) {
      if (!is_tensor(item)) fail_type("increment_version expects tensors, got ", Py_TYPE(item)->tp_name);
      if (is_inference(tensor_of(item)))
        fail("increment_version can only be called on tensors that were not made in inference mode");
      bump_version(tensor_of(item));
    });
    Py_RETURN_NONE;
  });
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
    Tensor* gradient = nullptr;
    if (given[0] && given[0] != Py_None) {
      if (!is_tensor(given[0]))
        fail_type("gradients can be either Tensors or None, but got ", Py_TYPE(given[0])->tp_name);
      gradient = &tensor_of(given[0]);
    }
    BackwardOptions options;
    options.create_graph = flag(given[2], false);
    options.keep_graph = flag(given[1], options.create_graph);
    std::vector<Endpoint> inputs;
    if (given[3] && given[3] != Py_None) {
      inputs = unwrap_endpoints(given[3], "inputs");
      if (inputs.empty()) fail("`inputs` argument to `backward()` cannot be empty.");
    }
    const Endpoint root = {&tensor_of(self), {}};
    run_nested({&root, 1}, {&gradient, 1}, inputs, options);
    Py_RETURN_NONE;
  });
}

namespace {

void capture_nothing(Object** code, int32_t* lasti) {
  *code = nullptr;
  *lasti = 0;
}

/// _set_line_capture(enabled): for the benchmark of what noting forward lines costs.
Object* set_line_capture(Object*, Object* enabled) {
  python_hooks.capture_line = enabled == Py_False ? capture_nothing : vivace_capture_line;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef kAutogradFunctions[] = {
    {"run_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_backward_function)),
     METH_VARARGS | METH_KEYWORDS,
     "run_backward(tensors, grad_tensors=None, keep_graph=False, create_graph=False, inputs=None, allow_unused=True, "
     "accumulate=True)"},
    {"_current_run", get_current_run, METH_NOARGS, "Id of the innermost backward in this thread, 0 outside of one."},
    {"_will_compute", will_compute_function, METH_O,
     "Whether the backward that is running computes the gradient of a tensor or GradientEdge."},
    {"_run_is_selective", is_selective, METH_NOARGS, "Whether the backward that is running was given inputs."},
    {"_queue_callback", queue_callback, METH_O, "Calls a function at the end of the backward that is running."},
    {"_set_anomaly", set_anomaly, METH_VARARGS, "_set_anomaly(enabled, check_nan=True)"},
    {"_get_anomaly", get_anomaly, METH_NOARGS, "(enabled, check_nan)"},
    {"_gradient_node", gradient_node, METH_O, "The node that a tensor's gradient goes to."},
    {"_increment_version", increment_version, METH_O, "Counts a change of a tensor, or of several."},
    {"_set_line_capture", set_line_capture, METH_O, "Whether nodes note the Python line that made them (benchmarks)."},
    {"_set_package_folder", set_package_folder, METH_O,
     "Frames of code below this folder are passed over when a forward line is noted."},
    {nullptr, nullptr, 0, nullptr},
};

void init_autograd(Object* module) {
  python_hooks.capture_line = vivace_capture_line;
  python_hooks.describe_line = describe_line;
  python_hooks.add_note = add_note;
  init_saved_hooks(module);
  init_function(module);
}

}  // namespace vivace
