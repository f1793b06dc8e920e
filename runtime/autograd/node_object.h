// The node as a Python object: what its type's slots call. For the autograd layer and the bindings.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

void node_dealloc(Object* self);
int node_traverse(Object* self, visitproc visit, void* arg);
int node_clear(Object* self);

/// Uninitialised memory for a node of `bytes` in all, reference count one. Implemented by the bindings.
Node* allocate_node(PyTypeObject* type, size_t bytes);

/// Hooks, and what custom Functions keep.
struct NodeExtra {
  Object* pre_hooks = nullptr;  // owned dicts of id -> callable
  Object* post_hooks = nullptr;
  Object* attributes = nullptr;
};
int traverse_node_extra(Node& node, visitproc visit, void* arg);
void clear_node_extra(Node& node);
void free_node_extra(Node& node);

}  // namespace vivace
