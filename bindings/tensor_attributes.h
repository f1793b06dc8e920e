// Attributes and methods of Tensor that are about the object rather than its values.
#pragma once
#include "runtime/core/tensor_object.h"

namespace vivace {

extern PyGetSetDef kTensorAttributes[];     // shape, dtype, grad, requires_grad, ...
extern PyMethodDef kTensorObjectMethods[];  // size, stride, numel, backward, register_hook, ...

/// The class that a Python object is, which must be a subclass of Tensor. Throws TypeError that names the function.
PyTypeObject* subclass_of_tensor(Object* type, const char* function);
/// A new object of a class that takes over all that t is; t has no other user.
TensorRef moved_into(TensorRef t, PyTypeObject* type);
/// A new object of a subclass of Tensor over t's storage, a leaf.
TensorRef retyped(const Tensor& t, PyTypeObject* type);
/// Lets t take over the layout, dtype and storage of `from` (what `t.data = from` does).
void assume_data(Tensor& t, const Tensor& from);

}  // namespace vivace
