// History of tensors that are changed in place.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// After an in-place op recorded as `node` (an edge to self as it was before, if there is one, comes first): makes it
/// self's history, and through a view the root's.
void rebase_history(Tensor& self, Node& node);

}  // namespace vivace
