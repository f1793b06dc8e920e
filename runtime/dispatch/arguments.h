// Walks over the arguments of a call.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// Calls f with each tensor among the arguments, in lists too, and the position of its argument.
template <class F>
void for_each_tensor(const Op& op, const Value* args, F&& f) {
  for (int i = 0; i < op.nargs; ++i) {
    if (args[i].tag == Tag::Tensor && args[i].tensor) f(*args[i].tensor, i);
    if (args[i].tag != Tag::TensorList) continue;
    for (Tensor* t : args[i].tensor_list())
      if (t) f(*t, i);
  }
}

}  // namespace vivace
