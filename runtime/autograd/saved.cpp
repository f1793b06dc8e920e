// Unpacking of saved tensors.
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/apply.h"
#include "runtime/autograd/explain.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/tangent.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

thread_local WrittenSlice written_slice;

namespace {

void identity_apply(Node&, Tensor* const* grads, Tensor** out, Needs) { out[0] = share(grads[0]); }

/// Between a leaf and an alias of it.
const NodeInfo identity_info = {
    .name = "AliasBackward0", .apply = identity_apply, .nedges = 1, .noutputs = 1, .fixed_shape = true};

/// Which edge the k-th saved value belongs to, or -1.
int edge_of(const NodeInfo& info, int k) {
  if (info.saves[k].from == SaveFrom::Arg)
    for (int e = 0; e < info.nedges; ++e)
      if (info.edge_args[e] == info.saves[k].index) return e;
  return -1;
}

TensorRef dual_with_edge(const Tensor& t, const Edge& edge) {
  TensorRef connected = with_edge(t, edge);
  share_tangents(t, *connected);
  return connected;
}

/// The value on the graph that is being made: with the history that it had when it was saved.
TensorRef reconnected(Node& node, int k, Tensor& t) {
  const NodeInfo& info = *node.info;
  if (node.standalone) return TensorRef::share(&t);
  if (info.saves[k].from == SaveFrom::Result)
    return dual_with_edge(t, written_slice.node == &node ? written_slice.edge : Edge(&node, info.saves[k].index));
  const int e = edge_of(info, k);
  if (e < 0) return TensorRef::share(&t);
  const Edge edge = node.edges()[e];
  if (edge.is_leaf() ? edge.tensor() == &t : edge.node() == t.grad_fn && (!edge || edge.nr() == t.output_nr))
    return TensorRef::share(&t);
  return dual_with_edge(t, edge);
}

/// What a pack hook made, turned back.
TensorRef unpacked(Node& node, int k) {
  const TensorRef t = python_hooks.unpack(node.saved()[k].object);
  return tls.grad_mode ? reconnected(node, k, *t) : t;
}

[[gnu::cold, gnu::noinline]] void refuse_saved(Node& node, int k, const Value& v) {
  const SaveSpec spec = node.info->saves[k];
  refuse_modified(node, *v.tensor, uint32_t(v.count),
                  spec.from == SaveFrom::Result ? str("output ", spec.index) : str("argument ", spec.index));
}

}  // namespace

void refuse_released(const Node& node) {
  fail(
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed): the saved values of ",
      describe(node),
      " were freed. Specify retain_graph=True if you need to backward through the graph a second time or if you need "
      "to access saved tensors after calling backward.");
}

TensorRef detached(const Tensor& t) {
  if (!((t.keys | tls.include) & ~tls.exclude & bit(Key::Python))) [[likely]]
    return alias(t);
  const ExcludeGuard below(bit(Key::Autograd));
  return ops::detach(const_cast<Tensor&>(t));
}

TensorRef with_edge(const Tensor& t, const Edge& edge) {
  TensorRef connected = detached(t);
  if (!edge) return connected;
  Ref<Node> node;
  if (edge.is_leaf()) {
    node = Ref<Node>::steal(new_node(identity_info, 1, 0, 1));
    set_meta(*node, 0, *edge.tensor());
    node->edges()[0] = edge;
    Py_INCREF(edge.object());
  } else {
    node = Ref<Node>::share(edge.node());
  }
  connected->output_nr = edge.is_leaf() ? 0 : edge.nr();
  connected->grad_fn = node.release();
  connected->keys |= bit(Key::Autograd);
  track(*connected);
  return connected;
}

SavedList saved_list(Node& node, int k) {
  const TensorList list = node.saved()[k].tensor_list();
  const auto* versions = reinterpret_cast<const uint32_t*>(list.data() + list.size());
  SavedList saved;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] && !is_tensor(list[i])) {
      saved.tensors.push_back(python_hooks.unpack(list[i]));
      continue;
    }
    if (list[i] && *list[i]->version_ != versions[i]) [[unlikely]]
      refuse_modified(node, *list[i], versions[i], str("tensor ", i, " of argument ", node.info->saves[k].index));
    saved.tensors.push_back(TensorRef::share(list[i]));
  }
  return saved;
}

TensorRef saved_tensor(Node& node, int k) {
  const Value& v = node.saved()[k];
  if (v.tag != Tag::Tensor) [[unlikely]]
    return v.tag == Tag::Object ? unpacked(node, k) : TensorRef();
  if (uint32_t(v.count) != *v.tensor->version_) [[unlikely]]
    refuse_saved(node, k, v);
  if (tls.grad_mode) [[unlikely]]
    return reconnected(node, k, *v.tensor);
  if (tls.foreign_backward && node.info->saves[k].from == SaveFrom::Result &&
      (v.tensor->keys | tls.include) & ~tls.exclude & bit(Key::Python)) [[unlikely]]
    return detached(*v.tensor);  // as Python sees it of PyTorch
  return TensorRef::share(v.tensor);
}

}  // namespace vivace
