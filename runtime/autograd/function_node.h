// The node of a custom autograd.Function: what the user's code put on its ctx, and what it saved.
#pragma once
#include <vector>

#include "runtime/autograd/node_object.h"

namespace vivace {

/// A value of save_for_backward.
struct FunctionSave {
  Object* object = nullptr;  // owned: a tensor, what a pack hook made of it, or null for None
  uint32_t version = 0;
  int32_t output = -1;  // the tensor is this output of the node; its detached alias is what is kept
  bool packed = false;
  Edge edge;  // of a packed tensor: its history, owned
};

inline constexpr uint8_t kIsTensor = 1, kRequiresGrad = 2;

struct FunctionState {
  Object* cls = nullptr;  // the subclass of Function
  // Tuples that forward set, dropped when apply has read them.
  Object* to_save = nullptr;
  Object* dirty = nullptr;
  Object* non_differentiable = nullptr;
  Object* saved_for_forward = nullptr;
  std::vector<FunctionSave> saved;
  std::vector<uint8_t> inputs;  // of each argument of apply: kIsTensor, kRequiresGrad
  std::vector<bool> outputs;    // whether it is a tensor
  bool materialize_grads = true;
  bool freed = false;
};

int traverse_function(Node& node, visitproc visit, void* arg);
/// Drops all references, those of `node.function` too.
void clear_function(Node& node);
/// Drops what save_for_backward kept.
void release_function(Node& node);

}  // namespace vivace
