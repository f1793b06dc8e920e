// Hooks of tensors and nodes, as the engine calls them. Implemented by the bindings, since hooks are Python.
#pragma once
#include "runtime/autograd/node.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

inline bool has_leaf_hooks(const Tensor& leaf) { return leaf.extra->hooks || leaf.extra->post_accumulate_hooks; }

/// Passes grad through t's hooks (if any); the result takes its place.
TensorRef run_tensor_hooks(Tensor& t, TensorRef grad);
void run_post_accumulate_hooks(Tensor& leaf);
/// May replace the gradients that arrived, one per output.
void run_node_pre_hooks(Node& node, Tensor** incoming);
/// May replace the gradients that leave, one per edge.
void run_node_post_hooks(Node& node, Tensor** outgoing, Tensor* const* incoming);

}  // namespace vivace
