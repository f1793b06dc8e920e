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
  bool separate_setup;  // forward without ctx, then setup_context
  bool has_jvp;
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
/// Calls the user's jvp, which gives the outputs their tangents at each level where an argument has one.
void run_function_jvp(Node& node, Object* const* args, Py_ssize_t nargs, Object* const* outputs, Py_ssize_t noutputs,
                      uint64_t levels);
/// What ctx.saved_tensors is: a tuple.
Object* saved_tensors(Node& node);

}  // namespace vivace
