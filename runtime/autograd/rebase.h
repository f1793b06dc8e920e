// History of tensors that are changed in place.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// After an in-place op recorded as `node` (edge 0: self before the op): makes it self's history, and through a view the root's.
void rebase_history(Tensor& self, Node& node);

}  // namespace vivace
