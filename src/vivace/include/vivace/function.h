// torch::autograd::Function: a formula in C++, recorded by autograd.Function of Python, whose forward and backward call
// the class's.
#pragma once
#include <cxxabi.h>

#include <functional>
#include <typeinfo>

#include "vivace/convert.h"
#include "vivace/modes.h"

namespace c10 {

/// A value of some type, as the Python object that it would be.
class IValue {
 public:
  IValue() : object_(vivace::Object::share(Py_None)) {}
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, IValue>>>
  IValue(const T& value) : object_(vivace::Object::steal(vivace::to_python(value))) {}

  const vivace::Object& object() const { return object_; }
  bool isNone() const { return object_.get() == Py_None; }
  bool isTensor() const { return vivace::api().is_tensor(object_.get()); }
  bool isInt() const { return PyLong_Check(object_.get()) && !isBool(); }
  bool isDouble() const { return PyFloat_Check(object_.get()); }
  bool isBool() const { return PyBool_Check(object_.get()); }
  bool isString() const { return PyUnicode_Check(object_.get()); }
  template <class T>
  T to() const {
    typename vivace::Convert<T>::Holder value{};
    TORCH_CHECK((vivace::Convert<T>::load(object_.get(), value)), "IValue: the value is not a ",
                vivace::Convert<T>::name());
    return T(std::move(value));
  }
  at::Tensor toTensor() const { return isNone() ? at::Tensor() : to<at::Tensor>(); }
  int64_t toInt() const { return to<int64_t>(); }
  double toDouble() const { return to<double>(); }
  bool toBool() const { return to<bool>(); }
  Scalar toScalar() const { return to<Scalar>(); }
  std::string toStringRef() const { return to<std::string>(); }
  std::vector<int64_t> toIntVector() const { return to<std::vector<int64_t>>(); }
  std::vector<double> toDoubleVector() const { return to<std::vector<double>>(); }
  std::vector<at::Tensor> toTensorVector() const { return to<std::vector<at::Tensor>>(); }
  List<int64_t> toIntList() const { return List<int64_t>(toIntVector()); }
  List<double> toDoubleList() const { return List<double>(toDoubleVector()); }
  List<at::Tensor> toTensorList() const { return List<at::Tensor>(toTensorVector()); }

 private:
  vivace::Object object_;
};
inline PyObject* to_python(const IValue& value) { return vivace::to_python(value.object()); }

}  // namespace c10

namespace torch {
using c10::IValue;
}

namespace torch::autograd {

using variable_list = std::vector<Variable>;
using tensor_list = std::vector<Variable>;

/// What forward keeps for backward.
class AutogradContext {
 public:
  std::unordered_map<std::string, at::IValue> saved_data;

  void save_for_backward(const variable_list& tensors) { call("save_for_backward", tensors); }
  void mark_dirty(const variable_list& tensors) { call("mark_dirty", tensors); }
  void mark_non_differentiable(const variable_list& tensors) { call("mark_non_differentiable", tensors); }
  void set_materialize_grads(bool on) { python().attribute("set_materialize_grads")(vivace::to_python(on)); }
  variable_list get_saved_variables() const {
    return vivace::result<variable_list>(python().attribute("saved_tensors").release());
  }
  /// Of the i-th tensor among forward's arguments.
  bool needs_input_grad(size_t i) const {
    const vivace::Object all = python().attribute("needs_input_grad");
    return PyObject_IsTrue(vivace::item_of(all.get(), Py_ssize_t(i) + 1)) == 1;
  }

  /// Python's ctx, while forward or backward runs.
  PyObject* ctx = nullptr;
  /// Of each of forward's arguments, lists flat: whether it is a tensor.
  std::vector<bool> is_tensor;

 private:
  vivace::Object python() const { return vivace::Object::share(ctx); }
  void call(const char* method, const variable_list& tensors) {
    const vivace::Object list = vivace::Object::steal(vivace::to_python(tensors));
    const vivace::Object args = vivace::Object::steal(PySequence_Tuple(list.get()));
    vivace::Object::steal(PyObject_CallObject(python().attribute(method).get(), args.get()));
  }
};

namespace detail {

/// One call of apply, which Python's forward is given in a capsule.
struct Call {
  std::function<PyObject*(AutogradContext*)> forward;
  variable_list tensors;
  std::vector<bool> is_tensor;

  void add(const Variable& t) {
    is_tensor.push_back(t.defined());
    if (t.defined()) tensors.push_back(t);
  }
  void add(const std::optional<Variable>& t) { add(t.value_or(Variable())); }
  void add(TensorList list) {
    for (const Variable& t : list) add(t);
  }
  void add(const variable_list& list) { add(TensorList(list)); }
  template <class T>
  void add(const T&) {
    is_tensor.push_back(false);
  }
};

constexpr const char* kContext = "torch::autograd::AutogradContext";
constexpr const char* kCall = "torch::autograd::Call";

/// forward(ctx, call, *tensors)
inline PyObject* forward(PyObject*, PyObject* args) {
  return vivace::guarded([&] {
    PyObject* ctx = PyTuple_GetItem(args, 0);
    auto* call = static_cast<Call*>(PyCapsule_GetPointer(PyTuple_GetItem(args, 1), kCall));
    if (!call) throw vivace::PythonError();
    auto* context = new AutogradContext;
    const auto capsule = vivace::Object::steal(PyCapsule_New(context, kContext, [](PyObject* c) {
      delete static_cast<AutogradContext*>(PyCapsule_GetPointer(c, kContext));
    }));
    vivace::checked(PyObject_SetAttrString(ctx, "_cpp_context", capsule.get()));
    context->ctx = ctx;
    context->is_tensor = call->is_tensor;
    return call->forward(context);
  });
}

/// backward(ctx, *grads) of a class T.
template <class T>
PyObject* backward(PyObject*, PyObject* args) {
  return vivace::guarded([&] {
    PyObject* ctx = PyTuple_GetItem(args, 0);
    const auto capsule = vivace::Object::share(ctx).attribute("_cpp_context");
    auto& context = *static_cast<AutogradContext*>(PyCapsule_GetPointer(capsule.get(), kContext));
    context.ctx = ctx;
    const auto list = vivace::Object::steal(PyTuple_GetSlice(args, 1, PyTuple_Size(args)));
    const variable_list grads = vivace::shared_result<variable_list>(list.get());
    const variable_list found = T::backward(&context, grads);
    TORCH_CHECK(found.size() == context.is_tensor.size(),
                "a function in C++ returned an incorrect number of gradients ", "(expected ", context.is_tensor.size(),
                ", got ", found.size(), ")");
    variable_list of_tensors = {Variable()};  // for the call, which is no tensor
    for (size_t i = 0; i < found.size(); ++i) {
      TORCH_CHECK(context.is_tensor[i] || !found[i].defined(), "a function in C++ returned a gradient at position ",
                  i + 1, ", but the corresponding forward input was not a tensor");
      if (context.is_tensor[i]) of_tensors.push_back(found[i]);
    }
    const auto made = vivace::Object::steal(vivace::to_python(of_tensors));
    return PySequence_Tuple(made.get());
  });
}

/// The subclass of autograd.Function that stands for T.
template <class T>
VIVACE_OWN vivace::Object make_class() {
  static PyMethodDef forward_definition = {"forward", forward, METH_VARARGS, nullptr};
  static PyMethodDef backward_definition = {"backward", backward<T>, METH_VARARGS, nullptr};
  int status;
  char* demangled = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status);
  std::string name = demangled ? demangled : typeid(T).name();
  std::free(demangled);
  name = name.substr(name.rfind(':') == name.npos ? 0 : name.rfind(':') + 1);
  const auto body = vivace::Object::steal(PyDict_New());
  for (PyMethodDef* definition : {&forward_definition, &backward_definition}) {
    const auto function = vivace::Object::steal(PyCFunction_NewEx(definition, nullptr, nullptr));
    const auto fixed = vivace::import("builtins").attribute("staticmethod")(vivace::to_python(function));
    vivace::checked(PyDict_SetItemString(body.get(), definition->ml_name, fixed.get()));
  }
  const auto bases = vivace::Object::pack(vivace::import("vivace.autograd").attribute("Function").release());
  return vivace::import("builtins")
      .attribute("type")(vivace::to_python(name), vivace::to_python(bases), vivace::to_python(body));
}

}  // namespace detail

/// `struct F : Function<F> { static Tensor forward(AutogradContext*, ...); static variable_list
/// backward(AutogradContext*, variable_list); }`, called by F::apply(...). backward returns a gradient for each of
/// forward's arguments, undefined for what is no tensor.
template <class T>
struct Function {
  template <class X = T, class... A>
  VIVACE_OWN static auto apply(A&&... args) -> std::decay_t<decltype(X::forward(nullptr, std::forward<A>(args)...))> {
    using Result = std::decay_t<decltype(X::forward(nullptr, std::forward<A>(args)...))>;
    static const auto* function = new vivace::Object(detail::make_class<T>().attribute("apply"));
    detail::Call call;
    call.forward = [&](AutogradContext* ctx) {
      const Result outputs = X::forward(ctx, std::forward<A>(args)...);
      const auto made = vivace::Object::steal(vivace::to_python(outputs));
      return std::is_same_v<Result, Variable> ? vivace::to_python(made) : PySequence_Tuple(made.get());
    };
    (call.add(args), ...);
    const auto given = vivace::Object::steal(PyTuple_New(Py_ssize_t(call.tensors.size()) + 1));
    vivace::checked(PyTuple_SetItem(given.get(), 0, vivace::checked(PyCapsule_New(&call, detail::kCall, nullptr))));
    for (size_t i = 0; i < call.tensors.size(); ++i)
      vivace::checked(PyTuple_SetItem(given.get(), Py_ssize_t(i) + 1, vivace::to_python(call.tensors[i])));
    return vivace::result<Result>(PyObject_CallObject(function->get(), given.get()));
  }
};

inline bool any_variable_requires_grad(const variable_list& tensors) {
  for (const Variable& t : tensors)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

/// Gradients of outputs by inputs.
inline variable_list grad(const variable_list& outputs, const variable_list& inputs,
                          const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                          bool create_graph = false, bool allow_unused = false) {
  const auto arguments = vivace::Object::pack(vivace::to_python(outputs), vivace::to_python(inputs));
  const auto options = vivace::Object::steal(vivace::to_python(
      std::map<std::string, IValue>{{"grad_outputs", grad_outputs.empty() ? IValue() : IValue(grad_outputs)},
                                    {"retain_graph", IValue(retain_graph)},
                                    {"create_graph", IValue(create_graph)},
                                    {"allow_unused", IValue(allow_unused)}}));
  const auto function = vivace::import("vivace.autograd").attribute("grad");
  return vivace::result<variable_list>(PyObject_Call(function.get(), arguments.get(), options.get()));
}
inline void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                     std::optional<bool> retain_graph = std::nullopt, bool create_graph = false) {
  PyObject* given = grad_tensors.empty() ? vivace::none() : vivace::to_python(grad_tensors);
  vivace::import("vivace.autograd")
      .attribute("backward")(vivace::to_python(tensors), given, vivace::to_python(retain_graph),
                             vivace::to_python(create_graph));
}

}  // namespace torch::autograd
