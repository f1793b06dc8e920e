// What tensors and graphs are to autograd: recording calls, connecting outputs, running backward.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// The kernels of Key::Autograd, by class of op (views are recorded as calls): run the op below and record a node if a
/// differentiable argument requires grad.
Object* record_call(const Op& op, KeySet keys, Value* args);
/// record_call for ops with one output whose tensor arguments are the first one or two, all of them differentiable.
Object* record_unary(const Op& op, KeySet keys, Value* args);
Object* record_binary(const Op& op, KeySet keys, Value* args);
Object* record_in_place(const Op& op, KeySet keys, Value* args);
Object* record_out(const Op& op, KeySet keys, Value* args);

/// Makes a node with room for edges and saved values, all null; the calling Python line is captured.
Node* new_node(const NodeInfo& info, uint32_t nedges, uint32_t nsaves, uint32_t noutputs);
/// The sequence number that the next node will have.
uint64_t next_sequence();
/// An edge to where the gradient of t, which requires grad, goes; owns a reference.
inline Edge edge_to(Tensor& t) {
  if (Node* fn = t.grad_fn) {
    Py_INCREF(fn);
    return Edge(fn, t.output_nr);
  }
  Py_INCREF(&t);
  return Edge::leaf(&t);
}
/// The same for any t, null for one that does not require grad.
inline Edge make_edge(Tensor* t) { return t && t->keys & bit(Key::Autograd) ? edge_to(*t) : Edge(); }
/// Makes t the nr-th output of node.
void set_history(Tensor& t, Node& node, uint32_t nr);
/// Where the sizes of a layout that becomes t's are kept, if it or the one before has many dims.
int64_t* heap_sizes(OutputMeta& meta, const Tensor& t);
/// Notes the layout of output nr.
inline void set_meta(Node& node, uint32_t nr, const Tensor& t) {
  OutputMeta& m = node.metas[nr];
  int64_t* sizes = m.inline_sizes;
  if ((m.ndim > kMetaDims) | (t.ndim_ > kMetaDims)) [[unlikely]]
    sizes = heap_sizes(m, t);
  m.dtype = t.dtype_;
  m.device = t.device_;
  m.ndim = t.ndim_;
  for (int d = 0; d < t.ndim_; ++d) sizes[d] = t.dims_[d];
}
/// alias(t); where a class's __torch_dispatch__ sees t, what it makes of detach().
TensorRef detached(const Tensor& t);
/// An alias of t whose gradient goes where the edge leads.
TensorRef with_edge(const Tensor& t, const Edge& edge);
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
/// Where a backward starts or ends: a tensor, or an output of a node whose tensor is not at hand.
struct Endpoint {
  Tensor* tensor = nullptr;
  Edge edge;  // borrowed; given if there is no tensor
};
/// Runs backward from `roots` (gradients: one per root, null for ones). With `inputs`, only what leads to them is
/// computed; without `accumulate` their gradients come back, in order.
std::vector<TensorRef> run_backward(std::span<const Endpoint> roots, TensorList gradients,
                                    std::span<const Endpoint> inputs, const BackwardOptions& options);

/// What a node makes of one gradient per output (null: undefined), alone: no hooks run, nothing is handed on or freed.
/// One gradient per edge, as the formula gives it.
std::vector<TensorRef> apply_node(Node& node, TensorList gradients);

/// The id of the innermost backward that runs in this thread; 0 if none does.
uint64_t current_run();
/// Whether the backward that runs in this thread computes the gradient at an endpoint. Throws if none runs.
bool will_compute(const Endpoint& endpoint);
/// Whether the backward that runs in this thread was given inputs. Throws if none runs.
bool run_is_selective();
/// Calls a Python function when the backward that runs in this thread has finished. Throws if none runs.
void call_after_run(Object* function);

struct AnomalyMode {
  bool enabled = false;
  bool check_nan = true;
  bool checks() const { return enabled && check_nan; }
};
extern AnomalyMode anomaly_mode;

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
  /// Gives a tensor that is being saved to this thread's pack hook; an object (owned) that `unpack` takes.
  Object* (*pack)(Tensor& t);
  TensorRef (*unpack)(Object* packed);
  /// Adds a note to the exception that is set.
  void (*add_note)(const std::string& text);
};
extern PythonHooks python_hooks;

}  // namespace vivace
