// Backward and hooks from Python.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

Object* tensor_backward(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames);
Object* register_hook(Object* self, Object* hook);
Object* register_post_accumulate_grad_hook(Object* self, Object* hook);
Object* retain_grad(Object* self, Object*);

extern PyMethodDef kAutogradFunctions[];  // run_backward and so on, for vivace.autograd
/// Fills the runtime's table of what it asks of Python. Throws PythonError.
void init_autograd(Object* module);

}  // namespace vivace
