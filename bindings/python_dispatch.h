// __torch_dispatch__: calls that reach Key::Python go to the innermost TorchDispatchMode, or to the class of an
// argument. What then happens is written in vivace/_dispatch. Operators' tables get a kernel for that key when the
// first mode is entered or the first instance of such a class is made: until then no call can meet it.
#pragma once
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/op.h"

namespace vivace {

/// Key::Python for classes with a __torch_dispatch__ of their own, else none.
KeySet class_keys(PyTypeObject* type);

/// Gives an operator that Python defines the kernels that the catalogue's get when the first mode is entered.
void show_to_python(Op& op);

/// The layers that have seen a call that Python sees; they are hidden from what its handler calls.
inline constexpr KeySet kAbovePython =
    bit(Key::Autograd) | bit(Key::SavedHooks) | bit(Key::Autocast) | bit(Key::ForwardAD);

/// Whether a TorchDispatchMode sees what this thread calls.
inline bool mode_is_on() { return (tls.include & ~tls.exclude & bit(Key::Python)) != 0; }
/// A tensor that was made of Python's data, after a mode has seen it.
TensorRef lifted(TensorRef t);

void init_python_dispatch(Object* module);
void init_presented(Object* module);

}  // namespace vivace
