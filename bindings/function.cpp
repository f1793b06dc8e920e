// autograd.Function: `apply` makes a node, which is the ctx, calls the user's forward with it, and gives the outputs
// their history.
#include "bindings/function.h"

#include <algorithm>
#include <cstdlib>

#include "bindings/convert.h"
#include "bindings/node_type.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/tangent.h"
#include "runtime/autograd/view.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/vmap/batched.h"

namespace vivace {
namespace {

/// An array of objects that is on the stack while it is short.
class Arguments {
 public:
  explicit Arguments(size_t n) {
    if (n > kFew) many_.resize(n);
    items_ = n > kFew ? many_.data() : few_;
  }
  Object*& operator[](size_t i) { return items_[i]; }
  Object** data() { return items_; }

 private:
  static constexpr size_t kFew = 12;
  Object* few_[kFew];
  std::vector<Object*> many_;
  Object** items_;
};

bool contains(Object* tuple, const Object* o) {
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); ++i)
    if (PyTuple_GET_ITEM(tuple, i) == o) return true;
  return false;
}

Ref<Object> tuple_of(Object* const* items, Py_ssize_t n) {
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.object(), i, Py_NewRef(items[i]));
  return tuple;
}

/// One call of apply.
class Application {
 public:
  Application(const FunctionClass& kind, Object* cls, Object* const* args, Py_ssize_t nargs);
  Object* operator()();

 private:
  Ref<Object> call_forward();
  /// Gives an output its history; what takes its place in the result.
  Ref<Object> finish_output(Object* output, uint32_t nr);
  void finish_dirty(Tensor& t, uint32_t nr);
  void check_dirty(Object* const* outputs, Py_ssize_t n) const;
  bool is_argument(const Object* o) const { return std::find(args_, args_ + nargs_, o) != args_ + nargs_; }

  const FunctionClass& kind_;
  Object* const cls_;
  Object* const* const args_;
  const Py_ssize_t nargs_;
  Ref<Node> node_;
  FunctionState* state_;
  bool recording_ = false;
  uint64_t levels_ = 0;  // at which an argument has a tangent
};

Application::Application(const FunctionClass& kind, Object* cls, Object* const* args, Py_ssize_t nargs)
    : kind_(kind), cls_(cls), args_(args), nargs_(nargs) {
  uint32_t ntensors = 0;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (!is_tensor(args[i])) continue;
    Tensor& t = tensor_of(args[i]);
    sync_view(t);
    ++ntensors;
    recording_ |= t.requires_grad();
    sync_tangents(t);
    levels_ |= levels_of(t);
  }
  if (tls.exclude & bit(Key::ForwardAD)) levels_ = 0;
  recording_ = recording_ && tls.grad_mode && !tls.inference_mode;
  Node* node = new_node(kind.info, ntensors, 0, 0);
  node_ = Ref<Node>::steal(node);
  node->function = {nullptr, nullptr};
  state_ = node_extra(*node).function = new FunctionState;
  state_->cls = Py_NewRef(cls);
  state_->inputs.resize(size_t(nargs));
  Edge* edge = node->edges();
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (!is_tensor(args[i])) continue;
    Tensor& t = tensor_of(args[i]);
    state_->inputs[size_t(i)] = t.requires_grad() ? kIsTensor | kRequiresGrad : kIsTensor;
    if (recording_) *edge = make_edge(&t);
    ++edge;
  }
}

Ref<Object> Application::call_forward() {
  static Object* const forward_name = PyUnicode_InternFromString("forward");
  static Object* const setup_name = PyUnicode_InternFromString("setup_context");
  const GradModeGuard no_grad(false);
  const ExcludeGuard no_tangents(bit(Key::ForwardAD));
  const auto forward = Ref<Object>::steal(checked(PyObject_GetAttr(cls_, forward_name)));
  if (kind_.separate_setup) {
    auto result = Ref<Object>::steal(checked(PyObject_Vectorcall(forward.object(), args_, size_t(nargs_), nullptr)));
    const auto setup = Ref<Object>::steal(checked(PyObject_GetAttr(cls_, setup_name)));
    const Ref<Object> inputs = tuple_of(args_, nargs_);
    Object* given[] = {node_.object(), inputs.object(), result.object()};
    Ref<Object>::steal(checked(PyObject_Vectorcall(setup.object(), given, 3, nullptr)));
    return result;
  }
  Arguments all(size_t(nargs_) + 2);
  all[1] = node_.object();
  std::copy(args_, args_ + nargs_, all.data() + 2);
  return Ref<Object>::steal(checked(PyObject_Vectorcall(
      forward.object(), all.data() + 1, (size_t(nargs_) + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)));
}

void Application::check_dirty(Object* const* outputs, Py_ssize_t n) const {
  for (Py_ssize_t i = 0; state_->dirty && i < PyTuple_GET_SIZE(state_->dirty); ++i) {
    Object* o = PyTuple_GET_ITEM(state_->dirty, i);
    if (!is_tensor(o))
      fail_type("mark_dirty can only accept variables, but argument ", i, " is of type ", Py_TYPE(o)->tp_name);
    if (std::find(outputs, outputs + n, o) == outputs + n)
      fail(kind_.info.name,
           ": Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
           "modified inplace must all be outputs of the Function.");
    if (std::find(args_, args_ + nargs_, o) == args_ + nargs_)
      warn(
          "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should "
          "be passed to ctx.mark_dirty().");
  }
}

void Application::finish_dirty(Tensor& t, uint32_t nr) {
  if (t.requires_grad() && t.is_leaf())
    fail(kind_.info.name, ": a leaf Variable that requires grad has been used in an in-place operation.");
  if (t.base) {
    if (t.base->requires_grad() && t.base->is_leaf())
      fail(kind_.info.name, ": a view of a leaf Variable that requires grad is being used in an in-place operation.");
    check_view_origin(t);
    const bool first =
        std::find_if(args_, args_ + nargs_, is_tensor) == std::find(args_, args_ + nargs_, static_cast<Object*>(&t));
    if (node_->noutputs != 1 || !first)
      fail(kind_.info.name,
           ": a view that is modified in-place by a custom Function must be its first tensor argument and its only "
           "output.");
  }
  bump_version(t);  // the change may have gone around the operators
  rebase_history(t, *node_, nr);
}

Ref<Object> Application::finish_output(Object* output, uint32_t nr) {
  if (!is_tensor(output)) return Ref<Object>::share(output);
  Tensor& t = tensor_of(output);
  state_->outputs[nr] = true;
  set_meta(*node_, nr, t);
  const bool given = is_argument(output), dirty = given && contains(state_->dirty, output);
  const bool differentiable =
      recording_ && is_differentiable(t.dtype()) && !contains(state_->non_differentiable, output);
  const ViewOrigin origin = node_->noutputs > 1 ? ViewOrigin::OneOfSeveral : ViewOrigin::CustomFunction;
  if (differentiable && dirty) {
    finish_dirty(t, nr);
  } else if (given && !dirty) {
    TensorRef view = make_view(t, t.sizes(), t.strides(), t.storage_offset());
    if (differentiable) {
      set_history(*view, *node_, nr);
      view->origin = origin;
    }
    return Ref<Object>::steal(view.release());
  } else if (differentiable) {
    set_history(t, *node_, nr);
    if (t.base) t.origin = origin;
  } else if (t.requires_grad() && !dirty) {
    return Ref<Object>::steal(alias(t).release());
  }
  return Ref<Object>::share(output);
}

Object* Application::operator()() {
  const Ref<Object> result = call_forward();
  const bool single = !PyTuple_Check(result.object());
  Object* only[] = {result.object()};
  Object* const* outputs = single ? only : reinterpret_cast<PyTupleObject*>(result.object())->ob_item;
  const Py_ssize_t n = single ? 1 : PyTuple_GET_SIZE(result.object());
  node_->metas = static_cast<OutputMeta*>(std::calloc(size_t(n) + 1, sizeof(OutputMeta)));
  node_->noutputs = uint32_t(n);
  state_->outputs.resize(size_t(n));
  check_dirty(outputs, n);
  Ref<Object> finished;
  if (single) {
    finished = finish_output(outputs[0], 0);
    if (recording_) save_tensors(*node_);
  } else {
    finished = Ref<Object>::steal(checked(PyTuple_New(n)));
    for (Py_ssize_t i = 0; i < n; ++i)
      PyTuple_SET_ITEM(finished.object(), i, finish_output(outputs[i], uint32_t(i)).release());
    if (recording_) save_tensors(*node_);
  }
  if (levels_) [[unlikely]] {
    if (!kind_.has_jvp)
      fail_not_implemented(
          "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.");
    Object* const only_finished[] = {finished.object()};
    run_function_jvp(*node_, args_, nargs_,
                     single ? only_finished : reinterpret_cast<PyTupleObject*>(finished.object())->ob_item, n, levels_);
  }
  Py_CLEAR(state_->saved_for_forward);
  Py_CLEAR(state_->to_save);
  Py_CLEAR(state_->dirty);
  Py_CLEAR(state_->non_differentiable);
  return finished.release();
}

/// Whether a class overrides a function of Function.
bool overrides(Object* cls, const char* name) {
  const auto function = Ref<Object>::steal(checked(PyObject_GetAttrString(cls, name)));
  return !PyObject_HasAttrString(function.object(), "_is_default");
}

constexpr uint8_t kFirstEdge[] = {0};
constexpr const char* kCapsule = "vivace.FunctionClass";

void free_class(Object* capsule) { delete static_cast<FunctionClass*>(PyCapsule_GetPointer(capsule, kCapsule)); }

/// Makes the node type of a subclass of Function; the capsule lives as long as the type.
Object* make_class(Object* cls, Object* capsule_name) {
  auto* made = new FunctionClass{};
  auto capsule = Ref<Object>::steal(checked(PyCapsule_New(made, kCapsule, free_class)));
  const auto name = Ref<Object>::steal(checked(PyType_GetName(reinterpret_cast<PyTypeObject*>(cls))));
  made->name = str(PyUnicode_AsUTF8(name.object()), "Backward");
  made->separate_setup = overrides(cls, "setup_context");
  made->has_jvp = overrides(cls, "jvp");
  const bool vjp = overrides(cls, "vjp");
  if (vjp && overrides(cls, "backward"))
    fail(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
        "of them.");
  made->backward_name = PyUnicode_InternFromString(vjp ? "vjp" : "backward");
  made->info.name = made->name.c_str();
  made->info.apply = run_function_backward;
  made->info.nedges = 1;
  made->info.edge_args = kFirstEdge;
  made->info.runs_always = true;
  PyTypeObject* type = make_function_node_type(str("torch.autograd.function.", made->name).c_str());
  const auto owner = Ref<PyTypeObject>::steal(type);
  made->info.type = type;
  checked(PyObject_SetAttr(owner.object(), capsule_name, capsule.object()));
  checked(PyObject_SetAttrString(owner.object(), "_forward_cls", cls));
  checked(PyObject_SetAttrString(cls, "_backward_cls", owner.object()));
  checked(PyObject_SetAttr(cls, capsule_name, capsule.object()));
  return capsule.release();
}

const FunctionClass& class_of(Object* cls) {
  static Object* const name = PyUnicode_InternFromString("_native");
  auto capsule = Ref<Object>::steal(checked(PyObject_GetAttr(cls, name)));
  if (capsule.object() == Py_None) [[unlikely]]
    capsule = Ref<Object>::steal(make_class(cls, name));
  void* found = PyCapsule_GetPointer(capsule.object(), kCapsule);
  if (!found) throw PythonError{};
  return *static_cast<FunctionClass*>(found);
}

/// Whether forward takes more arguments than were given, which have defaults: setup_context is to see these too.
bool lacks_defaults(Object* cls, Py_ssize_t nargs) {
  const auto forward = Ref<Object>::steal(checked(PyObject_GetAttrString(cls, "forward")));
  if (!PyFunction_Check(forward.object()) || !PyFunction_GetDefaults(forward.object())) return false;
  return nargs < reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(forward.object()))->co_argcount;
}

/// The call with all its arguments; those of vmap go through the class's rule for it.
Object* run(const FunctionClass& kind, Object* cls, Object* const* args, Py_ssize_t nargs) {
  const auto is_sample = [](Object* o) { return is_tensor(o) && is_batched(tensor_of(o)); };
  if (!foreign_tensors_exist || std::none_of(args, args + nargs, is_sample)) [[likely]]
    return Application(kind, cls, args, nargs)();
  const auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace.func._function")));
  const auto in_vmap = Ref<Object>::steal(checked(PyObject_GetAttrString(module.object(), "apply")));
  Arguments all(size_t(nargs) + 1);
  all[0] = cls;
  std::copy(args, args + nargs, all.data() + 1);
  return checked(PyObject_Vectorcall(in_vmap.object(), all.data(), size_t(nargs) + 1, nullptr));
}

Object* apply(Object* cls, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&]() -> Object* {
    const FunctionClass& kind = class_of(cls);
    if (!kwnames && !(kind.separate_setup && lacks_defaults(cls, nargs))) [[likely]]
      return run(kind, cls, args, nargs);
    const auto kwargs = Ref<Object>::steal(checked(PyDict_New()));
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
      checked(PyDict_SetItem(kwargs.object(), PyTuple_GET_ITEM(kwnames, k), args[nargs + k]));
    const Ref<Object> given = tuple_of(args, nargs);
    const auto bound =
        Ref<Object>::steal(checked(PyObject_CallMethod(cls, "_bind", "OO", given.object(), kwargs.object())));
    return run(kind, cls, reinterpret_cast<PyTupleObject*>(bound.object())->ob_item, PyTuple_GET_SIZE(bound.object()));
  });
}

PyMethodDef base_methods[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(apply)), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "apply(*args): runs forward and records the call."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_function(Object* module) {
  PyType_Slot slots[] = {{Py_tp_methods, base_methods}, {0, nullptr}};
  PyType_Spec spec = {"vivace._C._FunctionBase", sizeof(Object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  const auto type = Ref<Object>::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddObjectRef(module, "_FunctionBase", type.object()));
  init_function_node(module);
}

}  // namespace vivace
