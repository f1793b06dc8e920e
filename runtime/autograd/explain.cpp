// Texts of backward's errors; the search for the first NaN in anomaly mode.
#include "runtime/autograd/explain.h"

#include <unordered_set>
#include <vector>

#include "generated/ops/pointwise/logic.h"
#include "generated/ops/reduce/truth.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/composite/value.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

constexpr const char* kMark = "forward operation at ";

/// Whether t has a NaN.
bool has_nan(Tensor& t) {
  if (!is_differentiable(t.dtype()) || t.is_meta() || t.numel() == 0) return false;
  const GradModeGuard no_grad(false);
  const TensorRef found = ops::any(*ops::isnan(t));
  return is_true(*found);
}

/// The oldest node from which `node`'s gradient came by way of the forward pass, whose saved output is NaN already.
Node* first_nan_output(Node& node) {
  std::unordered_set<Node*> seen = {&node};
  std::vector<Node*> stack = {&node};
  Node* first = nullptr;
  while (!stack.empty()) {
    Node& at = *stack.back();
    stack.pop_back();
    for (uint32_t k = 0; k < at.nsaves && k < at.info->nsaves; ++k) {
      const Value& v = at.saved()[k];
      if (at.info->saves && at.info->saves[k].from == SaveFrom::Result && v.tag == Tag::Tensor && has_nan(*v.tensor) &&
          (!first || at.sequence < first->sequence))
        first = &at;
    }
    for (uint32_t i = 0; i < at.nedges; ++i) {
      const Edge& edge = at.edges()[i];
      if (edge && !edge.is_leaf() && seen.insert(edge.node()).second) stack.push_back(edge.node());
    }
  }
  return first;
}

}  // namespace

std::string describe(const Node& node) {
  std::string text = str(node.info->name, " (");
  for (uint32_t i = 0; i < node.noutputs && i < 4; ++i)
    text += str(i ? ", " : node.noutputs > 1 ? "outputs of shapes " : "output of shape ", node.metas[i].sizes());
  if (node.noutputs > 4) text += ", ...";
  if (node.code) text += str("; ", kMark, python_hooks.describe_line(node.code, node.lasti));
  return text + ")";
}

std::string_view forward_name(const Node& node) {
  const std::string_view name = node.info->name;
  return name.substr(0, name.rfind("Backward"));
}

void rethrow_in(const Node& node) {
  const std::string where = str("raised in the backward of ", describe(node));
  try {
    throw;
  } catch (Error& e) {
    if (e.text.find(kMark) == std::string::npos) e.text += str("; ", where);
    throw;
  } catch (const PythonError&) {
    python_hooks.add_note(where);
    throw;
  }
}

void refuse_modified(const Node& node, const Tensor& saved, uint32_t version, const std::string& what) {
  std::string by = "the operation that modified it worked on another tensor over the same memory";
  if (const Write* write = last_write(saved)) {
    by = str("it was last modified by ", write->op, "()");
    if (write->code) by += str(" at ", python_hooks.describe_line(write->code, write->lasti));
  }
  fail(
      "one of the variables needed for gradient computation has been modified by an inplace operation: "
      "a tensor of dtype ",
      saved.dtype(), " and shape ", saved.sizes(), ", ", what, " of ", describe(node), ", is at version ",
      *saved.version_, "; expected version ", version, " instead; ", by);
}

void check_no_nan(Node& node, Tensor* const* computed) {
  for (uint32_t i = 0; i < node.nedges; ++i) {
    if (!computed[i] || !has_nan(*computed[i])) continue;
    std::string text = str("Function '", node.info->name, "' returned nan values in its ", i,
                           "th output, a gradient of shape ", computed[i]->sizes(), "; in ", describe(node));
    if (Node* first = first_nan_output(node)) text += str("; the forward value is NaN from ", describe(*first), " on");
    fail(text);
  }
}

}  // namespace vivace
