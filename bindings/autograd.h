// Backward and hooks from Python.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

Object* tensor_backward(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames);

extern PyMethodDef kForwardFunctions[];   // forward mode
extern PyMethodDef kAutogradFunctions[];  // run_backward and so on, for vivace.autograd
/// Fills the runtime's table of what it asks of Python. Throws PythonError.
void init_autograd(Object* module);

}  // namespace vivace
