// Losses: how results are reduced, and the gradients that are computed in one pass.
#pragma once
#include <optional>
#include <string_view>
#include <tuple>

#include "runtime/autograd/node.h"
#include "runtime/kernels/isa/loss.h"

namespace vivace::kernels {

enum class Reduction : uint8_t { None, Mean, Sum };

/// From the arguments that PyTorch's losses share, the two deprecated flags included. ValueError for another word.
Reduction parse_reduction(const char* op, std::string_view text, std::optional<bool> size_average,
                          std::optional<bool> reduce);

using dense::ElementLoss;

/// Gradient of an elementwise loss by input or by target, in the broadcast shape.
TensorRef loss_slope(ElementLoss loss, Tensor& g, Tensor& input, Tensor& target, Reduction reduction, double parameter,
                     bool by_target);

/// Options of cross_entropy.
struct CrossEntropy {
  Tensor* weight;
  int64_t ignore_index;
  Reduction reduction;
  double label_smoothing;
};

/// Gradient of the logits for class indices, in one pass.
TensorRef cross_entropy_grad(Tensor& g, Tensor& input, Tensor& target, const CrossEntropy& options);
/// Gradient of the scores that nll_loss is given.
TensorRef nll_grad(Tensor& g, IntList input_sizes, Tensor& target, Tensor* weight, int64_t ignore_index,
                   Reduction reduction);

}  // namespace vivace::kernels
