// Unpacking of saved tensors.
#include "generated/ops.h"
#include "runtime/autograd/grad.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

std::string forward_line(const Node& node) {
  return node.code ? str("; the forward operation was at ", python_hooks.describe_line(node.code, node.lasti))
                   : std::string();
}

/// Which edge the k-th saved value belongs to, or -1.
int edge_of(const NodeInfo& info, int k) {
  if (info.saves[k].from == SaveFrom::Arg)
    for (int e = 0; e < info.nedges; ++e)
      if (info.edge_args[e] == info.saves[k].index) return e;
  return -1;
}

/// The value on the graph that is being made: with the history that it had when it was saved.
TensorRef connected(Node& node, int k, Tensor& t) {
  const NodeInfo& info = *node.info;
  if (info.saves[k].from == SaveFrom::Result) {
    TensorRef output = alias(t);
    output->grad_fn = &node;
    Py_INCREF(&node);
    output->output_nr = info.saves[k].index;
    output->keys |= bit(Key::Autograd);
    track(*output);
    return output;
  }
  const int e = edge_of(info, k);
  if (e < 0) return TensorRef::share(&t);
  const Edge edge = node.edges()[e];
  if (edge.is_leaf() ? edge.tensor() == &t : edge.node() == t.grad_fn && (!edge || edge.nr() == t.output_nr))
    return TensorRef::share(&t);
  TensorRef input = alias(t);
  if (edge && !edge.is_leaf()) {
    input->grad_fn = edge.node();
    Py_INCREF(edge.node());
    input->output_nr = edge.nr();
    input->keys |= bit(Key::Autograd);
    track(*input);
  }
  return input;
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_modified(Node& node, int k, const Value& v) {
  fail(
      "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor of "
      "dtype ",
      v.tensor->dtype(), " and shape ", v.tensor->sizes(), ", which ", node.info->name, " saved (",
      node.info->saves[k].from == SaveFrom::Result ? "its output " : "argument ", node.info->saves[k].index,
      "), is at version ", *v.tensor->version_, "; expected version ", uint32_t(v.count), " instead",
      forward_line(node));
}

}  // namespace

void refuse_released(const Node& node) {
  fail(
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed): "
      "the saved values of ",
      node.info->name,
      " were freed. Specify retain_graph=True if you need to backward through the graph a "
      "second time or if you need to access saved tensors after calling backward",
      forward_line(node));
}

TensorRef saved_tensor(Node& node, int k) {
  const Value& v = node.saved()[k];
  if (v.tag != Tag::Tensor) return {};
  if (uint32_t(v.count) != *v.tensor->version_) [[unlikely]]
    refuse_modified(node, k, v);
  if (tls.grad_mode) [[unlikely]]
    return connected(node, k, *v.tensor);
  return TensorRef::share(v.tensor);
}

}  // namespace vivace
