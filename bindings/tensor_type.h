// What the rest of the bindings knows of the Python type of tensors.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

extern PyTypeObject* tensor_type;

inline bool is_tensor_exact(Object* object) { return Py_IS_TYPE(object, tensor_type); }
inline bool is_tensor(Object* object) {
  return is_tensor_exact(object) || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}

}  // namespace vivace
