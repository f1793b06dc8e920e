// Backward. A node's inputs are always older than the node, so running the reachable nodes by falling sequence number
// is a valid order, and the one that PyTorch's engine takes. What a run needs lives in the nodes that it claims by its
// id; a node that another live run has claimed (backward inside backward, or in another thread) keeps its state in a
// map of this run.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "generated/ops/factory/fresh.h"
#include "generated/ops/view/dims.h"
#include "runtime/autograd/accumulate.h"
#include "runtime/autograd/explain.h"
#include "runtime/autograd/fit.h"
#include "runtime/autograd/function_node.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/hooks.h"
#include "runtime/autograd/node_object.h"
#include "runtime/autograd/view.h"
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/profiler/recorder.h"

namespace vivace {
namespace {

std::vector<uint64_t> live_runs;
uint64_t last_run = 0;

template <bool kProfiled>
using Scope = std::conditional_t<kProfiled, profiler::Scope, profiler::NoScope>;

/// What one run keeps per node.
struct NodeState {
  std::vector<TensorRef> grads;
  bool needed = false;
};

/// A leaf that has hooks, or whose gradient was asked for: its gradients are collected before they are used.
struct LeafState {
  TensorRef grad;
  int total = 0;  // how many edges of the run lead here
  int pending = 0;
};

/// An input of autograd.grad that is an output of a node.
struct Capture {
  Node* node;
  uint32_t nr;
  size_t index;
};

class Run {
 public:
  Run(const BackwardOptions& options) : options_(options), id_(++last_run), outer_(std::exchange(current, this)) {
    live_runs.push_back(id_);
  }
  ~Run() {
    current = outer_;
    for (Node* node : nodes_)
      if (node->run == id_) drop_buffer(*node);
    live_runs.erase(std::find(live_runs.begin(), live_runs.end(), id_));
  }
  Run(const Run&) = delete;

  std::vector<TensorRef> operator()(std::span<const Endpoint> roots, TensorList gradients,
                                    std::span<const Endpoint> inputs);

  static thread_local Run* current;
  uint64_t id() const { return id_; }
  bool selective() const { return selective_; }
  bool will_compute(const Endpoint& endpoint) const {
    if (endpoint.edge) return needed(*endpoint.edge.node());
    const auto leaf = leaves_.find(endpoint.tensor);
    return leaf != leaves_.end() && leaf->second.total > 0;
  }
  void call_after(Object* function) { callbacks_.push_back(Ref<Object>::share(function)); }

 private:
  void add_root(const Endpoint& root, Tensor* gradient, size_t i);
  void visit(Node& root);
  void find_needed(std::span<const Endpoint> inputs);
  void finish(std::span<const Endpoint> inputs);
  // kProfiled: a profile notes what runs.
  template <bool kProfiled>
  void execute(Node& node);
  template <bool kProfiled>
  void run(Node& node, Tensor** arrived, Needs needs);
  template <bool kProfiled>
  void deliver(const Edge& edge, TensorRef grad, const Node* from, uint32_t index);
  /// One gradient less to wait for at a leaf; after the last its hooks run.
  void settle(const Edge& edge);
  void finish_leaf(Tensor& leaf, LeafState& state);

  void expect_at(Tensor& leaf) {
    LeafState& state = leaves_[&leaf];
    ++state.total;
    ++state.pending;
  }
  bool claimed_elsewhere(const Node& node) const {
    return live_runs.size() > 1 && node.run != id_ &&
           std::find(live_runs.begin(), live_runs.end(), node.run) != live_runs.end();
  }
  bool needed(const Node& node) const {
    if (node.run == id_) return node.needed;
    const auto at = states_.find(const_cast<Node*>(&node));
    return at != states_.end() && at->second.needed;
  }
  bool wants(const Edge& edge) const {
    if (!edge) return false;
    if (!edge.is_leaf()) return needed(*edge.node());
    return !selective_ || leaves_.count(edge.tensor());
  }

  /// The slots of the gradients that arrived at a node.
  Tensor** buffer(Node& node) {
    if (node.run == id_) [[likely]] {
      if (node.noutputs == 1) return &node.buffer0;
      if (!node.buffer) node.buffer = static_cast<Tensor**>(std::calloc(node.noutputs, sizeof(Tensor*)));
      return node.buffer;
    }
    auto& grads = states_[&node].grads;
    grads.resize(node.noutputs);
    static_assert(sizeof(TensorRef) == sizeof(Tensor*));
    return reinterpret_cast<Tensor**>(grads.data());
  }
  static void drop_buffer(Node& node) {
    if (node.noutputs == 1) {
      Tensor* g = std::exchange(node.buffer0, nullptr);
      Py_XDECREF(g);
    } else if (node.buffer) {
      Tensor** grads = std::exchange(node.buffer, nullptr);
      for (uint32_t i = 0; i < node.noutputs; ++i) Py_XDECREF(grads[i]);
      std::free(grads);
    }
  }

  const BackwardOptions& options_;
  const uint64_t id_;
  Run* const outer_;  // of the same thread
  bool selective_ = false;
  std::vector<Edge> roots_;
  std::vector<Ref<Object>> root_owners_;  // a hook may let go of the tensors
  std::vector<TensorRef> root_grads_;
  std::vector<Node*> nodes_;
  std::unordered_map<Node*, NodeState> states_;
  std::unordered_map<Tensor*, LeafState> leaves_;
  std::vector<Capture> captures_;
  std::vector<TensorRef> results_;
  std::vector<Ref<Object>> callbacks_;
};

thread_local Run* Run::current = nullptr;

/// The output of a node that an endpoint is; none for leaves.
Edge edge_of(const Endpoint& e) {
  if (!e.tensor) return e.edge;
  return e.tensor->grad_fn ? Edge(e.tensor->grad_fn, e.tensor->output_nr) : Edge();
}

void Run::visit(Node& root) {
  std::vector<Node*> stack;
  auto claim = [&](Node& node) {
    if (node.run == id_) return;
    if (claimed_elsewhere(node)) {
      if (!states_.try_emplace(&node).second) return;
    } else {
      node.run = id_;
      node.buffer0 = nullptr;
      node.buffer = nullptr;
      node.needed = true;
    }
    nodes_.push_back(&node);
    stack.push_back(&node);
  };
  claim(root);
  while (!stack.empty()) {
    Node& node = *stack.back();
    stack.pop_back();
    Edge* edges = node.edges();
    for (uint32_t i = 0; i < node.nedges; ++i) {
      if (edges[i].is_leaf()) {
        Tensor* leaf = edges[i].tensor();
        if (leaf->extra && has_leaf_hooks(*leaf)) [[unlikely]]
          expect_at(*leaf);
      } else if (edges[i]) {
        claim(*edges[i].node());
      }
    }
  }
}

/// With inputs, gradients go only to nodes that are one's own or from which one can be reached.
void Run::find_needed(std::span<const Endpoint> inputs) {
  selective_ = true;
  std::unordered_set<Node*> captured;
  leaves_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = edge_of(inputs[i]);
    if (edge) {
      captures_.push_back({edge.node(), edge.nr(), i});
      captured.insert(edge.node());
    } else {
      leaves_[inputs[i].tensor];
    }
  }
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {  // oldest first
    bool need = captured.count(*node) != 0;
    for (uint32_t i = 0; i < (*node)->nedges; ++i) {
      const Edge& edge = (*node)->edges()[i];
      if (edge.is_leaf()) {
        const auto leaf = leaves_.find(edge.tensor());
        if (leaf == leaves_.end()) continue;
        expect_at(*leaf->first);
        need = true;
      } else if (edge) {
        need |= needed(*edge.node());
      }
    }
    if ((*node)->run == id_)
      (*node)->needed = need;
    else
      states_[*node].needed = need;
  }
}

void Run::finish_leaf(Tensor& leaf, LeafState& state) {
  if (!state.grad) return;
  try {
    TensorRef grad = run_tensor_hooks(leaf, std::move(state.grad));
    if (!options_.accumulate) {
      state.grad = std::move(grad);  // collected into the results at the end
      return;
    }
    if (!leaf.extra) return accumulate_grad(leaf, std::move(grad), options_.create_graph);
    grad = run_accumulate_pre_hooks(leaf, std::move(grad));
    const TensorRef given = leaf.extra->accumulate_post_hooks ? grad : TensorRef();
    if (grad) accumulate_grad(leaf, std::move(grad), options_.create_graph);
    run_post_accumulate_hooks(leaf, given.get());
  } catch (const PythonError&) {
    python_hooks.add_note(str("raised in the backward of AccumulateGrad (leaf of shape ", leaf.sizes(), ")"));
    throw;
  }
}

template <bool kProfiled>
void Run::deliver(const Edge& edge, TensorRef grad, const Node* from, uint32_t index) {
  if (edge.is_leaf()) {
    const Scope<kProfiled> scope(profiler::Kind::Accumulate, nullptr);
    Tensor& leaf = *edge.tensor();
    if (!leaf.requires_grad()) return;  // since it was switched off
    grad = fitted(std::move(grad), leaf.sizes(), leaf.dtype(), from, index);
    if (leaves_.empty()) [[likely]]
      return accumulate_grad(leaf, std::move(grad), options_.create_graph);
    const auto at = leaves_.find(&leaf);
    if (at == leaves_.end()) {
      if (!selective_) accumulate_grad(leaf, std::move(grad), options_.create_graph);
      return;
    }
    add_to(at->second.grad, std::move(grad), options_.create_graph);
    return;
  }
  Node& target = *edge.node();
  const OutputMeta& meta = target.metas[edge.nr()];
  grad = fitted(std::move(grad), meta.sizes(), meta.dtype, from, index);
  Tensor*& slot = buffer(target)[edge.nr()];
  auto sum = TensorRef::steal(std::exchange(slot, nullptr));
  add_to(sum, std::move(grad), options_.create_graph);
  slot = sum.release();
}

void Run::settle(const Edge& edge) {
  if (leaves_.empty() || !edge.is_leaf()) return;
  const auto at = leaves_.find(edge.tensor());
  if (at != leaves_.end() && --at->second.pending == 0) finish_leaf(*edge.tensor(), at->second);
}

/// A tensor of one number.
TensorRef filled(IntList sizes, DType dtype, Device device, double number) {
  if (device.type == DeviceType::PrivateUse) return ops::full(sizes, number, dtype, device);
  TensorRef t = empty(sizes, dtype, device);
  fill_into(*t, number);
  return t;
}

/// Whether a derivative has foreign tensors among its gradients or what it saved.
bool has_foreign_operands(Node& node, Tensor* const* arrived) {
  for (uint32_t i = 0; i < node.noutputs; ++i)
    if (arrived[i] && is_foreign(arrived[i]->keys)) return true;
  for (uint32_t k = 0; k < node.nsaves; ++k) {
    const Value& v = node.saved()[k];
    if (v.tag == Tag::Tensor && v.tensor && is_foreign(v.tensor->keys)) return true;
    if (v.tag != Tag::TensorList) continue;
    for (const Tensor* t : v.tensor_list())
      if (t && is_tensor(const_cast<Tensor*>(t)) && is_foreign(t->keys)) return true;
  }
  return false;
}

/// For the time of a derivative: whether it has foreign operands.
class ForeignBackward {
 public:
  ForeignBackward(Node& node, Tensor* const* arrived) : before_(tls.foreign_backward) {
    const bool native = !node.extra || !node.extra->function;
    tls.foreign_backward = foreign_tensors_exist && native && has_foreign_operands(node, arrived);
  }
  ~ForeignBackward() { tls.foreign_backward = before_; }
  ForeignBackward(const ForeignBackward&) = delete;

 private:
  const bool before_;
};

bool no_foreign_derivative(Node&, Tensor* const*, Tensor**, Needs) { return false; }

/// Puts zeros where no gradient arrived at a differentiable output.
void fill_undefined(Node& node, Tensor** arrived) {
  for (uint32_t i = 0; i < node.noutputs; ++i) {
    const OutputMeta& meta = node.metas[i];
    if (arrived[i] || !is_differentiable(meta.dtype)) continue;
    arrived[i] = filled(meta.sizes(), meta.dtype, meta.device, 0).release();
  }
}

/// Sizes and numbers are kept: a graph that saved nothing else may be walked again.
bool saves_tensors(Node& node) {
  for (uint32_t k = 0; k < node.nsaves; ++k) {
    const Tag tag = node.saved()[k].tag;
    if (tag == Tag::Tensor || tag == Tag::TensorList || tag == Tag::Object) return true;
  }
  return false;
}

/// Computes and hands on the gradients of a node's inputs.
template <bool kProfiled>
void Run::run(Node& node, Tensor** arrived, Needs needs) {
  constexpr uint32_t kInline = 8;
  const uint32_t n = node.nedges;
  Edge* edges = node.edges();
  if (node.info->wants_zeros && node.noutputs > 1) fill_undefined(node, arrived);
  if (lost_saved(node)) [[unlikely]]
    refuse_released(node);
  TensorRef few[kInline];
  std::vector<TensorRef> many(n > kInline ? n : 0);
  TensorRef* out = n > kInline ? many.data() : few;
  {
    const ForeignBackward foreign(node, arrived);
    const Scope<kProfiled> scope(profiler::Kind::Apply, node.info, int64_t(node.sequence));
    auto** slots = reinterpret_cast<Tensor**>(out);
    if (!tls.foreign_backward || !foreign_derivative(node, arrived, slots, needs)) [[likely]]
      node.info->apply(node, arrived, slots, needs);
  }
  if (anomaly_mode.checks()) [[unlikely]]
    check_no_nan(node, reinterpret_cast<Tensor**>(out));
  if (node.extra) run_node_post_hooks(node, reinterpret_cast<Tensor**>(out), arrived);
  if (node.run == id_) drop_buffer(node);  // so that gradients that passed through can be changed in place
  if (!options_.keep_graph) {
    if (saves_tensors(node)) release_saved(node);
    if (node.extra && node.extra->function) release_function(node);
  }
  for (uint32_t i = 0; i < n; ++i)
    if (out[i] && wants(edges[i])) deliver<kProfiled>(edges[i], std::move(out[i]), &node, i);
}

inline bool any_arrived(const Node& node, Tensor* const* arrived) {
  bool any = false;
  for (uint32_t i = 0; i < node.noutputs; ++i) any |= arrived[i] != nullptr;
  return any;
}

template <bool kProfiled>
void Run::execute(Node& node) {
  const Scope<kProfiled> scope(profiler::Kind::Evaluate, node.info, int64_t(node.sequence));
  Tensor** arrived = buffer(node);
  const bool any = any_arrived(node, arrived);
  const uint32_t n = node.nedges;
  Edge* edges = node.edges();
  Needs needs = 0;
  for (uint32_t i = 0; i < n && i < 64; ++i) needs |= Needs(wants(edges[i])) << i;
  try {
    if (node.extra) run_tensor_hooks(node, arrived);
    for (const Capture& c : captures_)
      if (c.node == &node && arrived[c.nr]) results_[c.index] = TensorRef::share(arrived[c.nr]);
    bool runs = needs && (any || node.info->runs_always);
    if (runs && node.extra) {
      run_node_pre_hooks(node, arrived);
      runs = any_arrived(node, arrived) || node.info->runs_always;
    }
    if (runs) {
      run<kProfiled>(node, arrived, needs);
    } else if (node.run == id_) {
      drop_buffer(node);
    }
  } catch (...) {
    rethrow_in(node);
  }
  for (uint32_t i = 0; i < n; ++i) settle(edges[i]);
}

/// The first gradient: what the caller gave, checked, or a one.
void Run::add_root(const Endpoint& root, Tensor* gradient, size_t i) {
  if (root.tensor) {
    sync_view(*root.tensor);
    if (!root.tensor->requires_grad())
      fail("element ", i, " of tensors does not require grad and does not have a grad_fn");
  }
  const Edge edge = edge_of(root);
  IntList sizes;
  DType dtype;
  Device device;
  if (root.tensor) {
    sizes = root.tensor->sizes(), dtype = root.tensor->dtype(), device = root.tensor->device();
  } else {
    const OutputMeta& meta = edge.node()->metas[edge.nr()];
    sizes = meta.sizes(), dtype = meta.dtype, device = meta.device;
  }
  TensorRef grad;
  if (gradient) {
    grad = TensorRef::share(gradient);
    if (!std::ranges::equal(grad->sizes(), sizes))
      fail("Mismatch in shape: grad_output[", i, "] has a shape of torch.Size(", grad->sizes(), ") and output[", i,
           "] has a shape of torch.Size(", sizes, ").");
    if (is_complex(grad->dtype()) != is_complex(dtype))
      fail(
          "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
          "grad_output[",
          i, "] has a dtype of ", grad->dtype(), " and output[", i, "] has a dtype of ", dtype, ".");
  } else {
    if (count(sizes) != 1)
      fail("grad can be implicitly created only for scalar outputs, got a tensor of shape ", sizes);
    if (is_complex(dtype)) fail("grad can be implicitly created only for real scalar outputs but got ", dtype);
    grad = root.tensor && foreign_tensors_exist && is_foreign(root.tensor->keys) ? ops::ones_like(*root.tensor)
                                                                                 : filled(sizes, dtype, device, 1);
  }
  roots_.push_back(edge ? edge : Edge::leaf(root.tensor));
  root_owners_.push_back(Ref<Object>::share(roots_.back().object()));
  root_grads_.push_back(std::move(grad));
  if (edge) visit(*edge.node());
}

std::vector<TensorRef> Run::operator()(std::span<const Endpoint> roots, TensorList gradients,
                                       std::span<const Endpoint> inputs) {
  for (size_t i = 0; i < roots.size(); ++i) add_root(roots[i], i < gradients.size() ? gradients[i] : nullptr, i);
  // Descending; a graph that was built and walked in a line is sorted already.
  auto newer = [](const Node* a, const Node* b) { return a->sequence > b->sequence; };
  if (!std::is_sorted(nodes_.begin(), nodes_.end(), newer)) std::sort(nodes_.begin(), nodes_.end(), newer);

  results_.resize(inputs.size());
  for (const Endpoint& input : inputs) {
    if (!input.tensor) continue;
    sync_view(*input.tensor);
    if (!input.tensor->requires_grad()) fail("One of the differentiated Tensors does not require grad");
  }
  if (!inputs.empty()) find_needed(inputs);
  for (const Edge& edge : roots_)
    if (edge.is_leaf() && (leaves_.count(edge.tensor()) || (edge.tensor()->extra && has_leaf_hooks(*edge.tensor()))))
      expect_at(*edge.tensor());

  const GradModeGuard mode(options_.create_graph);
  for (size_t i = 0; i < roots_.size(); ++i) {
    deliver<false>(roots_[i], std::move(root_grads_[i]), nullptr, 0);
    settle(roots_[i]);
  }
  if (profiler::here)
    for (size_t i = 0; i < nodes_.size(); ++i) execute<true>(*nodes_[i]);
  else
    for (size_t i = 0; i < nodes_.size(); ++i) execute<false>(*nodes_[i]);
  finish(inputs);
  for (size_t i = 0; i < callbacks_.size(); ++i) call_back(callbacks_[i].object());
  return std::move(results_);
}

/// The results for the inputs.
void Run::finish(std::span<const Endpoint> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor* t = inputs[i].tensor;
    if (edge_of(inputs[i])) {
      if (results_[i] && options_.accumulate && !(t && t->extra && t->extra->retains_grad)) {
        if (!t) fail("backward: a gradient can't be accumulated into a GradientEdge; give the tensor");
        accumulate_grad(*t, results_[i], options_.create_graph);
      }
    } else if (!options_.accumulate) {
      results_[i] = leaves_[t].grad;
    }
    if (!results_[i] && !options_.allow_unused)
      fail("The differentiated Tensor at index ", i,
           " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
  }
}

}  // namespace

std::vector<TensorRef> run_backward(std::span<const Endpoint> roots, TensorList gradients,
                                    std::span<const Endpoint> inputs, const BackwardOptions& options) {
  return Run(options)(roots, gradients, inputs);
}

std::vector<TensorRef> apply_node(Node& node, TensorList gradients) {
  if (lost_saved(node)) refuse_released(node);
  std::vector<TensorRef> arrived(node.noutputs);
  for (uint32_t i = 0; i < node.noutputs; ++i) {
    if (!gradients[i]) continue;
    const OutputMeta& meta = node.metas[i];
    TensorRef g = TensorRef::share(gradients[i]);
    if (!std::ranges::equal(g->sizes(), meta.sizes())) g = ops::expand(*g, meta.sizes());
    arrived[i] = fitted(std::move(g), meta.sizes(), meta.dtype, nullptr, i);
  }
  const bool any = std::ranges::any_of(arrived, [](const TensorRef& g) { return bool(g); });
  std::vector<TensorRef> results(node.nedges);
  if (!any && !node.info->runs_always) return results;
  auto** slots = reinterpret_cast<Tensor**>(arrived.data());
  if (node.info->wants_zeros) fill_undefined(node, slots);
  Needs needs = 0;
  for (uint32_t i = 0; i < node.nedges && i < 64; ++i) needs |= Needs(bool(node.edges()[i])) << i;
  const ForeignBackward foreign(node, slots);
  node.info->apply(node, slots, reinterpret_cast<Tensor**>(results.data()), needs);
  return results;
}

namespace {
Run& running() {
  if (!Run::current) fail("this can be asked only while a backward runs in this thread");
  return *Run::current;
}
}  // namespace

uint64_t current_run() { return Run::current ? Run::current->id() : 0; }
bool will_compute(const Endpoint& endpoint) { return running().will_compute(endpoint); }
bool run_is_selective() { return running().selective(); }
void call_after_run(Object* function) { running().call_after(function); }

AnomalyMode anomaly_mode;
bool (*foreign_derivative)(Node&, Tensor* const*, Tensor**, Needs) = no_foreign_derivative;

}  // namespace vivace
