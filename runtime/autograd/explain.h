// What errors of backward say: the operator, the shapes, and the line of the forward call.
#pragma once
#include <string>
#include <string_view>

#include "runtime/autograd/node.h"

namespace vivace {

/// "MulBackward0 (output of shape [2, 3]; forward operation at train.py:12 in f)".
std::string describe(const Node& node);

/// "Mul" for MulBackward0.
std::string_view forward_name(const Node& node);

/// Adds to the error that is being handled, of either kind, which node was running; rethrows it.
[[noreturn]] void rethrow_in(const Node& node);

[[noreturn]] void refuse_modified(const Node& node, const Tensor& saved, uint32_t version, const std::string& what);

/// Anomaly mode: throws if a gradient that `node` computed has a NaN.
void check_no_nan(Node& node, Tensor* const* computed);

/// A derivative of tensors that are foreign, written in Python; false: there is none, the node's own applies.
extern bool (*foreign_derivative)(Node& node, Tensor* const* grads, Tensor** out, Needs needs);

}  // namespace vivace
