// __torch_function__: calls that get an object of a class with that method go to it, and so do all calls while a
// TorchFunctionMode is on. A plain tensor is told by its type, in the test that finds the quick path anyway: while a
// mode is on, no type is plain.
#pragma once
#include <algorithm>

#include "bindings/tables.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

extern PyTypeObject* plain_tensor_type;     // tensor_type; null while a mode is on
extern PyTypeObject* plain_parameter_type;  // parameter_type; null while a mode is on

/// Exactly a Tensor, and no mode is on.
inline bool is_plain_tensor(const Object* o) { return Py_TYPE(o) == plain_tensor_type; }
/// Exactly a Tensor or a Parameter, and no mode is on.
inline bool is_plain(const Object* o) { return is_plain_tensor(o) || Py_TYPE(o) == plain_parameter_type; }
/// Whether a mode is on in some thread.
inline bool modes_exist() { return plain_tensor_type == nullptr; }

/// Whether a call with this object goes to a mode of this thread or to its class's __torch_function__.
bool overrides(Object* o);
/// Whether one of these objects, or of what lists and tuples among them hold, overrides; or a mode of this thread.
bool any_overrides(Object* self, Object* const* args, size_t n);

// Calls that are overridden; arguments as in vectorcall.

Object* override_method(const char* name, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames);
/// `qualname`: "torch.add", "torch.nn.functional.linear".
Object* override_function(const char* qualname, Object* const* args, Py_ssize_t nargs, Object* kwnames);
Object* override_call(Object* function, Object* const* args, Py_ssize_t nargs, Object* kwnames);
Object* override_getter(const char* name, Object* self);
int override_setter(const char* name, Object* self, Object* value);

void init_override(Object* module);
/// Adds overridable, for functions written in Python.
void init_overridable(Object* module);

// ---- entries of the tables of methods and attributes

/// A string as a template argument.
template <size_t N>
struct Text {
  char chars[N];
  consteval Text(const char (&text)[N]) { std::copy_n(text, N, chars); }
};

inline bool is_overridden(Object* self) { return !is_plain(self) && overrides(self); }

template <Text name, FastKeywordFunction function>
Object* method_entry(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  if (is_overridden(self)) [[unlikely]]
    return override_method(name.chars, self, args, nargs, kwnames);
  return function(self, args, nargs, kwnames);
}
/// For METH_NOARGS (argument is null), METH_O and slots.
template <Text name, PyCFunction function>
Object* method_entry(Object* self, Object* argument) {
  if (is_overridden(self)) [[unlikely]]
    return override_method(name.chars, self, &argument, argument ? 1 : 0, nullptr);
  return function(self, argument);
}
template <Text name, auto function>
auto slot_entry(Object* self) -> decltype(function(self)) {
  if (is_overridden(self)) [[unlikely]] {
    Object* result = override_method(name.chars, self, nullptr, 0, nullptr);
    if constexpr (std::is_same_v<decltype(function(self)), Object*>) {
      return result;
    } else {
      const Py_ssize_t number = !result ? -1 : result == Py_True ? 1 : PyNumber_AsSsize_t(result, PyExc_OverflowError);
      Py_XDECREF(result);
      return decltype(function(self))(number);
    }
  }
  return function(self);
}
template <Text name, getter get>
Object* getter_entry(Object* self, void* closure) {
  if (is_overridden(self)) [[unlikely]]
    return override_getter(name.chars, self);
  return get(self, closure);
}
template <Text name, setter set>
int setter_entry(Object* self, Object* value, void* closure) {
  if (is_overridden(self)) [[unlikely]]
    return override_setter(name.chars, self, value);
  return set(self, value, closure);
}

/// A method of Tensor that __torch_function__ may override.
template <Text name, FastKeywordFunction function>
PyMethodDef tensor_method(const char* doc = nullptr) {
  return keyword_function(name.chars, method_entry<name, function>, doc);
}
/// `flags`: METH_NOARGS or METH_O.
template <Text name, PyCFunction function>
PyMethodDef tensor_method(int flags, const char* doc = nullptr) {
  return {name.chars, method_entry<name, function>, flags, doc};
}
/// An attribute of Tensor that __torch_function__ may override.
template <Text name, getter get>
PyGetSetDef tensor_attribute(const char* doc = nullptr) {
  return {name.chars, getter_entry<name, get>, nullptr, doc, nullptr};
}
template <Text name, getter get, setter set>
PyGetSetDef tensor_attribute(const char* doc = nullptr) {
  return {name.chars, getter_entry<name, get>, setter_entry<name, set>, doc, nullptr};
}

/// A function of the torch namespace with tensors among its arguments.
template <Text name, FastKeywordFunction function>
Object* function_entry(Object* module, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  if ((modes_exist() || (nargs > 0 && !is_plain(args[0]))) && any_overrides(nullptr, args, size_t(nargs)))
    return override_function(name.chars, args, nargs, kwnames);
  return function(module, args, nargs, kwnames);
}
/// A function that makes tensors of data, whose class says nothing: only modes see it.
template <Text name, FastKeywordFunction function>
Object* factory_entry(Object* module, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  if (modes_exist() && any_overrides(nullptr, args, 0)) return override_function(name.chars, args, nargs, kwnames);
  return function(module, args, nargs, kwnames);
}
template <Text qualname, FastKeywordFunction function>
PyMethodDef factory_function(const char* doc) {
  return keyword_function(qualname.chars + 6, factory_entry<qualname, function>, doc);  // without "torch."
}
template <Text qualname, FastKeywordFunction function>
PyMethodDef tensor_function(const char* doc) {
  return keyword_function(qualname.chars + 6, function_entry<qualname, function>, doc);  // without "torch."
}

}  // namespace vivace
