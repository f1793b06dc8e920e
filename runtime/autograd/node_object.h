// The node as a Python object: what its type's slots call. For the autograd layer and the bindings.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

void node_dealloc(Object* self);
int node_traverse(Object* self, visitproc visit, void* arg);
int node_clear(Object* self);

/// Uninitialised memory for a node of `bytes` in all, reference count one. Implemented by the bindings.
Node* allocate_node(PyTypeObject* type, size_t bytes);
void free_node(Node* node);

struct FunctionState;

/// Hooks, and what custom Functions keep. Owned references.
struct NodeExtra {
  Object* tensor_hooks = nullptr;  // dict of output number -> dict of id -> callable: hooks of what the node made
  Object* retain_hooks = nullptr;  // the same with the one hook of retain_grad(), which runs last
  Object* pre_hooks = nullptr;     // dict of id -> callable
  Object* post_hooks = nullptr;
  Object* metadata = nullptr;  // dict, the user's
  FunctionState* function = nullptr;
};
/// The extra part, made if there is none.
NodeExtra& node_extra(Node& node);
int traverse_node_extra(Node& node, visitproc visit, void* arg);
void clear_node_extra(Node& node);
void free_node_extra(Node& node);

}  // namespace vivace
