// Gradients that meet: in a slot of a node, and in a leaf's .grad.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

/// Adds `more` to what a slot holds, in place where nobody else can see it.
void add_to(TensorRef& sum, TensorRef more, bool create_graph);
/// Adds to leaf.grad as PyTorch does: a gradient that nobody else holds is taken, others are copied.
void accumulate_grad(Tensor& leaf, TensorRef grad, bool create_graph);

}  // namespace vivace
