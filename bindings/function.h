// The native part of autograd.Function.
#pragma once
#include <string>

#include "runtime/autograd/function_node.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

/// What there is to know of a subclass of Function; lives as long as its type of nodes.
struct FunctionClass {
  NodeInfo info;
  std::string name;
  bool separate_setup;    // forward without ctx, then setup_context
  Object* backward_name;  // "backward" or "vjp"; interned, never freed
};

/// Adds _FunctionBase, which has `apply`, and the type of the nodes that are a Function's ctx.
void init_function(Object* module);
void init_function_node(Object* module);
/// The type of the nodes of one subclass of Function; new reference.
PyTypeObject* make_function_node_type(const char* name);

/// NodeInfo::apply of these nodes: calls the user's backward.
void run_function_backward(Node& node, Tensor* const* grads, Tensor** out, Needs needs);
/// Keeps the tensors that forward gave to save_for_backward.
void save_tensors(Node& node);
/// What ctx.saved_tensors is: a tuple.
Object* saved_tensors(Node& node);

}  // namespace vivace
