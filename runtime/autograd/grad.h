// What tensors and graphs are to autograd: recording calls, connecting outputs, running backward.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// The kernel of Key::Autograd, for all ops: runs the op below and records a node if a differentiable argument requires
/// grad.
Object* autograd_kernel(const Op& op, KeySet keys, Value* args);

/// Makes a node with room for edges and saved values, all null; the calling Python line is captured.
Node* new_node(const NodeInfo& info, uint32_t nedges, uint32_t nsaves, uint32_t noutputs);
/// An edge to where t's gradient goes (null if t does not require grad); owns a reference.
Edge make_edge(Tensor* t);
/// Makes t the nr-th output of node.
void set_history(Tensor& t, Node& node, uint32_t nr);
/// Notes the layout of output nr.
void set_meta(Node& node, uint32_t nr, const Tensor& t);
/// Drops what the node saved.
void release_saved(Node& node);
/// Whether the node needs saved values that are gone: its formula must not run.
inline bool lost_saved(const Node& node) { return node.released && node.capacity > 0; }
/// Throws PyTorch's error for a second backward.
[[noreturn]] void refuse_released(const Node& node);
/// For leaves: t.requires_grad_(value). Throws for non-leaves and dtypes that are not differentiable.
void set_requires_grad(Tensor& t, bool value);
/// t.detach_(): cuts t's history in place.
void detach_in_place(Tensor& t);

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  bool allow_unused = true;
  bool accumulate = true;  // into .grad of leaves; else the gradients of `inputs` are returned
};
/// Runs backward from `roots` (gradients: one per root, null for ones). With `inputs`, only what leads to them is
/// computed; without `accumulate` their gradients come back, in order.
std::vector<TensorRef> run_backward(TensorList roots, TensorList gradients, TensorList inputs,
                                    const BackwardOptions& options);

/// Sums g over the dims that broadcasting from `sizes` added. Differentiable if grad mode is on.
TensorRef sum_to_size(Tensor& g, IntList sizes);

/// What the runtime asks of Python; bindings fill it at start.
struct PythonHooks {
  /// Stores the code object (owned) and instruction offset of the nearest frame outside vivace.
  void (*capture_line)(Object** code, int32_t* lasti);
  /// "file.py:12 in f" for what capture_line stored.
  std::string (*describe_line)(Object* code, int32_t lasti);
  /// The Python type of a node, made at its first use.
  PyTypeObject* (*make_node_type)(const NodeInfo& info);
};
extern PythonHooks python_hooks;

}  // namespace vivace
