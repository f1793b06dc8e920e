// __torch_dispatch__: calls that reach Key::Python go to the innermost TorchDispatchMode, or to the class of an
// argument. What then happens is written in vivace/_dispatch.py. Operators' tables get a kernel for that key when the
// first mode is entered or the first instance of such a class is made: until then no call can meet it.
#pragma once
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/op.h"

namespace vivace {

/// Key::Python for classes with a __torch_dispatch__ of their own, else none.
KeySet class_keys(PyTypeObject* type);

/// Gives an operator that Python defines the kernels that the catalogue's get when the first mode is entered.
void show_to_python(Op& op);

void init_python_dispatch(Object* module);

}  // namespace vivace
