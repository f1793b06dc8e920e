// Modes and classes with __torch_dispatch__; wrappers, which have no memory of their own.
#include "bindings/python_dispatch.h"

#include <unordered_map>
#include <vector>

#include "bindings/backend.h"
#include "bindings/convert.h"
#include "bindings/keywords.h"
#include "bindings/python_op.h"
#include "bindings/tables.h"
#include "bindings/tensor_attributes.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/rebase.h"
#include "runtime/dispatch/foreign.h"

namespace vivace {
namespace {

thread_local std::vector<Ref<Object>> modes;  // the innermost last

Object* disabled_dispatch = nullptr;  // classes with this as their __torch_dispatch__ see no calls
Object* handler = nullptr;            // handler(overload, args, kwargs), in Python
Object* find_overload = nullptr;      // find_overload(full name), in Python
Object* method_name = nullptr;        // "__torch_dispatch__"

/// Overloads by number that PyTorch's parser has not: it takes the number for a tensor.
constexpr const char* kNumbersAsTensors[] = {"add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_"};

std::string presented_overload(const Op& op) {
  const std::string_view overload = op.overload;
  if (tls.foreign_backward) return op.overload;  // of calls in C++
  if (overload != "Scalar" && overload != "Scalar_mode") return op.overload;
  for (const std::string_view name : kNumbersAsTensors)
    if (name == op.name) return overload == "Scalar" ? "Tensor" : "Tensor_mode";
  return op.overload;
}

/// The OpOverload that stands for op in torch.ops.
Object* overload_object(const Op& op) {
  static std::unordered_map<const Op*, Object*> known[2];
  Object*& found = known[tls.foreign_backward][&op];
  if (!found) {
    const std::string overload = presented_overload(op);
    const bool qualified = std::string_view(op.name).find("::") != std::string_view::npos;
    const std::string rest = str(op.name, overload.empty() ? "" : ".", overload);
    // Where PyTorch's operator of that name has other arguments, ours goes by another namespace.
    const Op* named = qualified ? nullptr : find_qualified("aten::" + rest);
    const std::string name = str(qualified                                          ? ""
                                 : named && named != &op && overload == op.overload ? "vivace::"
                                                                                    : "aten::",
                                 rest);
    found = checked(PyObject_CallFunction(find_overload, "s", name.c_str()));
  }
  return found;
}

Object* dispatch_to_python(const Op& op, KeySet, Value* args) {
  const Ref<Object> function = Ref<Object>::share(overload_object(op));
  const auto [positional, keywords] = python_arguments(op, args);
  const WrittenArguments written(op, args);
  const ExcludeGuard below(kAbovePython);
  Ref<Object> result = Ref<Object>::steal(checked(
      PyObject_CallFunctionObjArgs(handler, function.object(), positional.object(), keywords.object(), nullptr)));
  written.bump_versions();
  Object* checked_result = check_python_result(op, args, std::move(result)).release();
  if (op.op_class == OpClass::View)
    for (Tensor* t : result_tensors(checked_result))
      if (is_tensor(t)) adopt_view(*t, *args[0].tensor, !op.node);
  return checked_result;
}

void install() {
  static const bool once = [] {
    guard_memory();
    for (Op* op : all_ops())
      if (!is_implicit_composite(*op)) show_to_python(*op);
    const auto module = Ref<Object>::steal(checked(PyImport_ImportModule("vivace._dispatch")));
    Ref<Object>::steal(checked(PyObject_CallMethod(module.object(), "activate", nullptr)));
    return true;
  }();
  (void)once;
}

bool class_dispatches(PyTypeObject* type) {
  if (type == tensor_type || type == parameter_type) return false;
  auto method = Ref<Object>::steal(PyObject_GetAttr(reinterpret_cast<Object*>(type), method_name));
  if (!method) PyErr_Clear();
  return method && method.get() != disabled_dispatch;
}

void show_modes_to_calls() {
  tls.include = modes.empty() ? tls.include & ~bit(Key::Python) : tls.include | bit(Key::Python);
}

Dims dims_argument(const char* name, Object* value) {
  Dims dims;
  if (!unwrap_ints(value, &dims))
    fail_type("_make_wrapper_subclass(): argument '", name, "' must be tuple of ints, not ", Py_TYPE(value)->tp_name);
  return dims;
}

/// _make_wrapper_subclass(cls, size, *, strides, storage_offset, dtype, device, requires_grad, ...)
Object* make_wrapper_subclass(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&]() -> Object* {
    static constexpr Signature signature = {
        "_make_wrapper_subclass",
        10,
        2,
        {"cls", "size", "strides", "storage_offset", "memory_format", "dtype", "layout", "device", "pin_memory",
         "requires_grad", "dispatch_sizes_strides_policy", "dispatch_device", "dispatch_layout"}};
    Object* a[13];
    sort_arguments(signature, args, nargs, keywords, a);
    PyTypeObject* type = subclass_of_tensor(a[0], "_make_wrapper_subclass");
    if (!class_dispatches(type)) fail_type(type->tp_name, " must define __torch_dispatch__");
    const Dims sizes = dims_argument("size", a[1]);
    const DType dtype = dtype_argument("_make_wrapper_subclass", a[5]).value_or(default_dtype);
    const Device device = device_argument("_make_wrapper_subclass", a[7]).value_or(Device{});
    const Device nowhere{DeviceType::Meta};
    const bool strided = a[2] && a[2] != Py_None;
    TensorRef bare =
        strided ? empty_strided(sizes, dims_argument("strides", a[2]), dtype, nowhere) : empty(sizes, dtype, nowhere);
    int64_t offset = 0;
    if (a[3] && a[3] != Py_None && !unwrap_int(a[3], &offset))
      fail_type("_make_wrapper_subclass(): argument 'storage_offset' must be int, not ", Py_TYPE(a[3])->tp_name);
    TensorRef wrapper = moved_into(std::move(bare), type);
    wrapper->data_ += offset * int64_t(wrapper->item_size());
    wrapper->device_ = device;
    wrapper->keys = bit(Key::NoData) | bit(Key::Python);
    if (bool_argument("_make_wrapper_subclass", "requires_grad", a[9], false)) set_requires_grad(*wrapper, true);
    return wrapper.release();
  });
}

// ---- for vivace/_dispatch

Object* set_handlers(Object*, Object* const* args, Py_ssize_t) {
  Object* old[] = {std::exchange(handler, Py_NewRef(args[0])), std::exchange(find_overload, Py_NewRef(args[1]))};
  for (Object* o : old) Py_XDECREF(o);
  Py_RETURN_NONE;
}

Object* push_mode(Object*, Object* mode) {
  install();
  modes.push_back(Ref<Object>::share(mode));
  show_modes_to_calls();
  Py_RETURN_NONE;
}
Object* pop_mode(Object*, Object*) {
  if (modes.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "there is no TorchDispatchMode to leave");
    return nullptr;
  }
  Object* mode = modes.back().release();
  modes.pop_back();
  show_modes_to_calls();
  return mode;
}
Object* num_modes(Object*, Object*) { return PyLong_FromSize_t(modes.size()); }
Object* mode_at(Object*, Object* index) {
  const size_t at = PyLong_AsSize_t(index);
  if (PyErr_Occurred()) return nullptr;
  if (at >= modes.size()) {
    PyErr_SetString(PyExc_IndexError, "there are fewer modes on");
    return nullptr;
  }
  return Py_NewRef(modes[at].get());
}

Object* is_wrapper(Object*, Object* t) { return PyBool_FromLong(is_tensor(t) && tensor_of(t).keys & bit(Key::NoData)); }

Object* class_dispatches_object(Object*, Object* type) {
  return PyBool_FromLong(PyType_Check(type) && class_dispatches(reinterpret_cast<PyTypeObject*>(type)));
}

/// The __torch_dispatch__ of classes that see no calls: the operation itself, unseen.
Object* call_disabled(Object*, Object* args, Object* kwargs) {
  static const char* names[] = {"func", "types", "args", "kwargs", nullptr};
  Object *function, *types, *arguments = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", const_cast<char**>(names), &function, &types, &arguments,
                                   &keywords))
    return nullptr;
  return guarded([&] {
    const ExcludeGuard unseen(bit(Key::Python));
    auto tuple = Ref<Object>::steal(checked(arguments ? PySequence_Tuple(arguments) : PyTuple_New(0)));
    return PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords);
  });
}

PyMethodDef functions[] = {
    fast_function("_set_dispatch_handlers", set_handlers,
                  "Sets what calls that Python sees go to, and what finds overloads."),
    {"_push_on_torch_dispatch_stack", push_mode, METH_O, nullptr},
    {"_pop_torch_dispatch_stack", pop_mode, METH_NOARGS, nullptr},
    {"_len_torch_dispatch_stack", num_modes, METH_NOARGS, nullptr},
    {"_get_dispatch_stack_at", mode_at, METH_O, nullptr},
    {"_is_wrapper", is_wrapper, METH_O, "Whether a tensor was made by _make_wrapper_subclass."},
    {"_class_dispatches", class_dispatches_object, METH_O, "Whether a class has a __torch_dispatch__ of its own."},
    {"_disabled_torch_dispatch_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_disabled)),
     METH_VARARGS | METH_KEYWORDS, "The __torch_dispatch__ of classes that see no calls."},
    keyword_function("_make_wrapper_subclass", make_wrapper_subclass,
                     "A tensor of a class with __torch_dispatch__ that has sizes and a dtype, and no memory."),
    kNoMethod,
};

}  // namespace

void show_to_python(Op& op) {
  set_own_kernel(op, Key::Python, dispatch_to_python);
  set_own_kernel(op, Key::NoData, refuse_without_memory);
}

Object* call_with_python_arguments(Object* function, const Op& op, Value* args) {
  if (!find_overload) install();
  const auto called = Ref<Object>::share(function), overload = Ref<Object>::share(overload_object(op));
  const auto [positional, keywords] = python_arguments(op, args);
  const Py_ssize_t n = PyTuple_GET_SIZE(positional.object());
  auto all = Ref<Object>::steal(checked(PyTuple_New(n + 1)));
  PyTuple_SET_ITEM(all.object(), 0, Py_NewRef(overload.get()));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(all.object(), i + 1, Py_NewRef(PyTuple_GET_ITEM(positional.object(), i)));
  const WrittenArguments written(op, args);
  const ExcludeGuard below(kAbovePython);
  Ref<Object> result = Ref<Object>::steal(checked(PyObject_Call(called.object(), all.object(), keywords.object())));
  written.bump_versions();
  return check_python_result(op, args, std::move(result)).release();
}

TensorRef lifted(TensorRef t) {
  if (!mode_is_on()) [[likely]]
    return t;
  static const Op* const op = find_qualified("aten::lift_fresh");
  Value args[] = {Value::of(t.get())};
  return TensorRef::steal(&tensor_of(dispatch(*op, t->keys, args)));
}

KeySet class_keys(PyTypeObject* type) {
  if (!class_dispatches(type)) return 0;
  install();
  return bit(Key::Python);
}

void init_python_dispatch(Object* module) {
  checked(PyModule_AddFunctions(module, functions));
  init_presented(module);
  disabled_dispatch = checked(PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl"));
  method_name = checked(PyUnicode_InternFromString("__torch_dispatch__"));
  auto* type = reinterpret_cast<Object*>(tensor_type);
  checked(PyObject_SetAttr(type, method_name, disabled_dispatch));
  const auto wrapper = Ref<Object>::steal(checked(PyObject_GetAttrString(module, "_make_wrapper_subclass")));
  const auto unbound = Ref<Object>::steal(checked(PyStaticMethod_New(wrapper.object())));
  checked(PyObject_SetAttrString(type, "_make_wrapper_subclass", unbound.object()));
}

}  // namespace vivace
