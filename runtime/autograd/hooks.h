// Hooks of tensors and nodes, as the engine calls them. Implemented by the bindings, since hooks are Python.
#pragma once
#include "runtime/autograd/node.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

inline bool has_leaf_hooks(const Tensor& leaf) {
  const TensorExtra& e = *leaf.extra;
  return e.hooks || e.post_accumulate_hooks || e.accumulate_pre_hooks || e.accumulate_post_hooks;
}

/// Passes grad through t's hooks (if any); the result takes its place.
TensorRef run_tensor_hooks(Tensor& t, TensorRef grad);
/// The pre-hooks of a leaf's AccumulateGrad.
TensorRef run_accumulate_pre_hooks(Tensor& leaf, TensorRef grad);
/// The post-accumulate hooks, and those of AccumulateGrad, which get what was added.
void run_post_accumulate_hooks(Tensor& leaf, Tensor* added);
/// Passes the gradients that arrived, one per output, through the hooks of the tensors that the node made.
void run_tensor_hooks(Node& node, Tensor** arrived);
/// May replace the gradients that arrived.
void run_node_pre_hooks(Node& node, Tensor** arrived);
/// May replace the gradients that leave, one per edge.
void run_node_post_hooks(Node& node, Tensor** outgoing, Tensor* const* incoming);

/// The hook of retain_grad() goes with its tensor when that gets another history.
void move_retain_hook(Node& from, uint32_t from_nr, Node& to, uint32_t to_nr);
void call_back(Object* function);

}  // namespace vivace
