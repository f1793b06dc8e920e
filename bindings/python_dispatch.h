// __torch_dispatch__: calls that reach Key::Python go to the innermost TorchDispatchMode, or to the class of an
// argument. What then happens is written in vivace/_dispatch.py. Operators' tables get a kernel for that key when the
// first mode is entered or the first instance of such a class is made: until then no call can meet it.
#pragma once
#include "runtime/core/tensor_object.h"

namespace vivace {

/// Key::Python for classes with a __torch_dispatch__ of their own, else none.
KeySet class_keys(PyTypeObject* type);

void init_python_dispatch(Object* module);

}  // namespace vivace
