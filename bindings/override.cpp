// Which calls __torch_function__ overrides. What then happens is written in vivace/overrides.py.
#include "bindings/override.h"

#include <vector>

#include "bindings/convert.h"

namespace vivace {

PyTypeObject* plain_tensor_type = nullptr;
PyTypeObject* plain_parameter_type = nullptr;

namespace {

enum class Enabled : uint8_t { All, NoSubclasses, Nothing };

struct State {
  Enabled enabled = Enabled::All;
  std::vector<Ref<Object>> modes;  // the innermost last
};
thread_local State state;
int num_modes = 0;  // of all threads

Object* disabled_function = nullptr;  // classes with this as their __torch_function__ don't override
Object* handler = nullptr;            // handler(function, args, kwargs), in Python
Object* method_name = nullptr;        // "__torch_function__"

/// Whether the mode of this thread sees calls.
bool mode_is_on() { return state.enabled != Enabled::Nothing && !state.modes.empty(); }

bool class_overrides(Object* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (type == tensor_type || type == parameter_type || state.enabled != Enabled::All) return false;
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  auto method = Ref<Object>::steal(PyObject_GetAttr(reinterpret_cast<Object*>(type), method_name));
  if (!method) PyErr_Clear();
  return method && method.get() != disabled_function;
}

bool any_class_overrides(Object* o) {
  if (class_overrides(o)) return true;
  if (!PyTuple_CheckExact(o) && !PyList_CheckExact(o)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (class_overrides(PySequence_Fast_GET_ITEM(o, i))) return true;
  return false;
}

void count_modes(int change) {
  num_modes += change;
  plain_tensor_type = num_modes == 0 ? tensor_type : nullptr;
  plain_parameter_type = num_modes == 0 ? parameter_type : nullptr;
}

/// handler(function, (self, *args), kwargs).
Object* call_handler(Ref<Object> function, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  auto positional = Ref<Object>::steal(checked(PyTuple_New(nargs + (self ? 1 : 0))));
  Py_ssize_t at = 0;
  if (self) PyTuple_SET_ITEM(positional.get(), at++, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(positional.get(), at++, Py_NewRef(args[i]));
  auto keywords = Ref<Object>::steal(checked(PyDict_New()));
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
    checked(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(kwnames, k), args[nargs + k]));
  return checked(PyObject_CallFunctionObjArgs(handler, function.get(), positional.get(), keywords.get(), nullptr));
}

Ref<Object> attribute_of(Object* object, const char* name) {
  return Ref<Object>::steal(checked(PyObject_GetAttrString(object, name)));
}
Ref<Object> tensor_attribute_of(const char* name) { return attribute_of(reinterpret_cast<Object*>(tensor_type), name); }
/// `__get__` or `__set__` of an attribute of Tensor.
Ref<Object> accessor(const char* name, const char* which) {
  return attribute_of(tensor_attribute_of(name).get(), which);
}

// ---- for vivace/overrides.py

Object* set_handler(Object*, Object* function) {
  Object* old = std::exchange(handler, Py_NewRef(function));
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

Object* has_torch_function(Object*, Object* sequence) {
  return guarded([&]() -> Object* {
    auto list = Ref<Object>::steal(checked(PySequence_Fast(sequence, "expected a sequence")));
    return PyBool_FromLong(
        any_overrides(nullptr, PySequence_Fast_ITEMS(list.get()), size_t(PySequence_Fast_GET_SIZE(list.get()))));
  });
}
Object* has_torch_function_unary(Object*, Object* o) { return PyBool_FromLong(overrides(o)); }
Object* has_torch_function_variadic(Object*, Object* const* args, Py_ssize_t nargs) {
  return PyBool_FromLong(any_overrides(nullptr, args, size_t(nargs)));
}
Object* class_overrides_object(Object*, Object* o) { return PyBool_FromLong(class_overrides(o)); }

/// _exchange_torch_function_state(n): 0 all, 1 no subclasses, 2 nothing; returns what was.
Object* exchange_state(Object*, Object* value) {
  const long given = PyLong_AsLong(value);
  if (given == -1 && PyErr_Occurred()) return nullptr;
  return PyLong_FromLong(int(std::exchange(state.enabled, Enabled(given))));
}
Object* is_enabled(Object*, Object*) { return PyBool_FromLong(state.enabled == Enabled::All); }

Object* push_mode(Object*, Object* mode) {
  state.modes.push_back(Ref<Object>::share(mode));
  count_modes(1);
  Py_RETURN_NONE;
}
Object* pop_mode(Object*, Object*) {
  if (state.modes.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "there is no TorchFunctionMode to leave");
    return nullptr;
  }
  Object* mode = state.modes.back().release();
  state.modes.pop_back();
  count_modes(-1);
  return mode;
}
Object* num_modes_on(Object*, Object*) { return PyLong_FromSize_t(mode_is_on() ? state.modes.size() : 0); }
Object* mode_at(Object*, Object* index) {
  const size_t at = PyLong_AsSize_t(index);
  if (PyErr_Occurred()) return nullptr;
  if (at >= state.modes.size()) {
    PyErr_SetString(PyExc_IndexError, "there are fewer modes on");
    return nullptr;
  }
  return Py_NewRef(state.modes[at].get());
}

/// __torch_function__ of classes that don't override: plain calls.
Object* call_disabled(Object*, Object* args, Object* kwargs) {
  static const char* names[] = {"func", "types", "args", "kwargs", nullptr};
  Object *function, *types, *arguments = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", const_cast<char**>(names), &function, &types, &arguments,
                                   &keywords))
    return nullptr;
  return guarded([&] {
    const Enabled old = std::exchange(state.enabled, std::max(state.enabled, Enabled::NoSubclasses));
    auto tuple = Ref<Object>::steal(arguments ? PySequence_Tuple(arguments) : PyTuple_New(0));
    Object* result = tuple ? PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords) : nullptr;
    state.enabled = old;
    return result;
  });
}

PyMethodDef functions[] = {
    {"_set_override_handler", set_handler, METH_O, "Sets the function that overridden calls go to."},
    {"_has_torch_function", has_torch_function, METH_O, nullptr},
    {"_has_torch_function_unary", has_torch_function_unary, METH_O, nullptr},
    fast_function("_has_torch_function_variadic", has_torch_function_variadic, nullptr),
    {"_class_overrides", class_overrides_object, METH_O, "Whether an object's class has a __torch_function__ in use."},
    {"_exchange_torch_function_state", exchange_state, METH_O, nullptr},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, nullptr},
    {"_push_on_torch_function_stack", push_mode, METH_O, nullptr},
    {"_pop_torch_function_stack", pop_mode, METH_NOARGS, nullptr},
    {"_len_torch_function_stack", num_modes_on, METH_NOARGS, nullptr},
    {"_get_function_stack_at", mode_at, METH_O, nullptr},
    {"_disabled_torch_function_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_disabled)),
     METH_VARARGS | METH_KEYWORDS, "The __torch_function__ of classes that don't override."},
    kNoMethod,
};

}  // namespace

bool overrides(Object* o) { return mode_is_on() || class_overrides(o); }

bool any_overrides(Object* self, Object* const* args, size_t n) {
  if (mode_is_on() || (self && class_overrides(self))) return true;
  return std::any_of(args, args + n, any_class_overrides);
}

Object* override_method(const char* name, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] { return call_handler(tensor_attribute_of(name), self, args, nargs, kwnames); });
}

Object* override_function(const char* qualname, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    auto function = Ref<Object>::steal(checked(PyImport_ImportModule("vivace")));
    std::string_view rest = qualname;
    while (rest.find('.') != rest.npos) {
      rest.remove_prefix(rest.find('.') + 1);
      function = attribute_of(function.get(), std::string(rest.substr(0, rest.find('.'))).c_str());
    }
    return call_handler(std::move(function), nullptr, args, nargs, kwnames);
  });
}

Object* override_call(Object* function, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] { return call_handler(Ref<Object>::share(function), nullptr, args, nargs, kwnames); });
}

Object* override_getter(const char* name, Object* self) {
  return guarded([&] { return call_handler(accessor(name, "__get__"), self, nullptr, 0, nullptr); });
}

int override_setter(const char* name, Object* self, Object* value) {
  return guarded_or(-1, [&] {
    Object* result = value ? call_handler(accessor(name, "__set__"), self, &value, 1, nullptr)
                           : call_handler(accessor(name, "__delete__"), self, nullptr, 0, nullptr);
    Py_DECREF(result);
    return 0;
  });
}

void init_override(Object* module) {
  checked(PyModule_AddFunctions(module, functions));
  disabled_function = checked(PyObject_GetAttrString(module, "_disabled_torch_function_impl"));
  method_name = checked(PyUnicode_InternFromString("__torch_function__"));
  count_modes(0);
  init_overridable(module);
  checked(PyObject_SetAttr(reinterpret_cast<Object*>(parameter_type), method_name, disabled_function));
}

}  // namespace vivace
