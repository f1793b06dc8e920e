// Short forms for the tables that describe Python types.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

using FastKeywordFunction = Object* (*)(Object* self, Object* const* args, Py_ssize_t nargs, Object* keywords);
using FastFunction = Object* (*)(Object* self, Object* const* args, Py_ssize_t nargs);

/// A read-only attribute.
inline constexpr PyGetSetDef attribute(const char* name, getter get, const char* doc = nullptr) {
  return {name, get, nullptr, doc, nullptr};
}
/// A function or method that takes keywords by the vectorcall convention.
inline PyMethodDef keyword_function(const char* name, FastKeywordFunction function, const char* doc, int flags = 0) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS | flags, doc};
}
inline PyMethodDef fast_function(const char* name, FastFunction function, const char* doc, int flags = 0) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | flags, doc};
}
inline constexpr PyMethodDef kNoMethod = {nullptr, nullptr, 0, nullptr};
inline constexpr PyGetSetDef kNoAttribute = {nullptr, nullptr, nullptr, nullptr, nullptr};

/// A type without instances of its own dict; the rest is filled in by the caller.
inline PyTypeObject plain_type(const char* name, Py_ssize_t size, unsigned long flags = 0) {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT | flags;
  return type;
}

}  // namespace vivace
