// Derivatives of softmax, losses and embedding: fused where no graph is asked for, formulas where one is.
#include "generated/formulas/nn/embedding.h"
#include "generated/formulas/nn/loss.h"
#include "generated/formulas/nn/softmax.h"
#include "generated/ops/index/select.h"
#include "generated/ops/nn/softmax.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/var.h"
#include "runtime/composite/value.h"
#include "runtime/kernels/embedding.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/softmax.h"

namespace vivace::formulas {

using kernels::CrossEntropy;
using kernels::ElementLoss;
using kernels::Reduction;

// ---- softmax

TensorRef softmax_backward(Tensor& g, Tensor& y, int64_t dim) {
  const int64_t dims[] = {dim};
  return (Var(g) - (Var(g) * Var(y)).sum(dims)) * Var(y);
}
TensorRef softmax_backward_fused(Tensor& g, Tensor& y, int64_t dim) { return kernels::softmax_grad(g, y, dim); }

TensorRef log_softmax_backward(Tensor& g, Tensor& y, int64_t dim) {
  const int64_t dims[] = {dim};
  return Var(g) - Var(ops::exp(y)) * Var(g).sum(dims);
}
TensorRef log_softmax_backward_fused(Tensor& g, Tensor& y, int64_t dim) { return kernels::log_softmax_grad(g, y, dim); }

// ---- losses of pairs

namespace {

Var slope_of(ElementLoss loss, const Var& difference, double parameter) {
  switch (loss) {
    case ElementLoss::Mse:
      return difference * 2.0;
    case ElementLoss::L1:
      return ops::sign(*difference);
    case ElementLoss::SmoothL1: {
      const Scalar low(-1.0), high(1.0);
      return ops::clamp(*(difference * (1 / parameter)), &low, &high);
    }
    case ElementLoss::Huber:
      break;
  }
  const Scalar low(-parameter), high(parameter);
  return ops::clamp(*difference, &low, &high);
}

std::tuple<TensorRef, TensorRef> pair_backward(ElementLoss loss, Tensor& g, Tensor& input, Tensor& target,
                                               Reduction reduction, double parameter, Needs needs, bool fused) {
  TensorRef x, t;
  if (fused) {
    if (wants(needs, 0)) x = kernels::loss_slope(loss, g, input, target, reduction, parameter, false);
    if (wants(needs, 1)) t = kernels::loss_slope(loss, g, input, target, reduction, parameter, true);
    return {std::move(x), std::move(t)};
  }
  const Var difference = Var(input) - Var(target);
  Var slope = slope_of(loss, difference, parameter) * Var(g);
  if (reduction == Reduction::Mean) slope = slope * (1 / double((*difference).numel()));
  if (wants(needs, 0)) x = slope;
  if (wants(needs, 1)) t = -slope;
  return {std::move(x), std::move(t)};
}

std::tuple<TensorRef, TensorRef, TensorRef> with_weight(std::tuple<TensorRef, TensorRef> two) {
  return {std::move(std::get<0>(two)), std::move(std::get<1>(two)), TensorRef()};
}

}  // namespace

std::tuple<TensorRef, TensorRef, TensorRef> mse_loss_backward(Tensor& g, Tensor& input, Tensor& target,
                                                              std::optional<bool> size_average,
                                                              std::optional<bool> reduce, std::string_view reduction,
                                                              Needs needs) {
  const Reduction r = kernels::parse_reduction("mse_loss", reduction, size_average, reduce);
  return with_weight(pair_backward(ElementLoss::Mse, g, input, target, r, 0, needs, may_fuse()));
}
std::tuple<TensorRef, TensorRef, TensorRef> l1_loss_backward(Tensor& g, Tensor& input, Tensor& target,
                                                             std::optional<bool> size_average,
                                                             std::optional<bool> reduce, std::string_view reduction,
                                                             Needs needs) {
  const Reduction r = kernels::parse_reduction("l1_loss", reduction, size_average, reduce);
  return with_weight(pair_backward(ElementLoss::L1, g, input, target, r, 0, needs, may_fuse()));
}
std::tuple<TensorRef, TensorRef> smooth_l1_loss_backward(Tensor& g, Tensor& input, Tensor& target,
                                                         std::optional<bool> size_average, std::optional<bool> reduce,
                                                         std::string_view reduction, double beta, Needs needs) {
  const Reduction r = kernels::parse_reduction("smooth_l1_loss", reduction, size_average, reduce);
  return pair_backward(beta == 0 ? ElementLoss::L1 : ElementLoss::SmoothL1, g, input, target, r, beta, needs,
                       may_fuse());
}
std::tuple<TensorRef, TensorRef, TensorRef> huber_loss_backward(Tensor& g, Tensor& input, Tensor& target,
                                                                std::string_view reduction, double delta, Needs needs) {
  const Reduction r = kernels::parse_reduction("huber_loss", reduction, {}, {});
  return with_weight(pair_backward(ElementLoss::Huber, g, input, target, r, delta, needs, may_fuse()));
}

// ---- losses of class scores

namespace {

/// The incoming gradient, shaped to broadcast against the scores.
Var over_classes(Tensor& g, IntList scores, Reduction reduction) {
  if (reduction != Reduction::None) return g;
  return ops::unsqueeze(g, scores.size() == 1 ? 0 : 1);
}

/// Class numbers and weights where the kernels below can read them.
struct Classes {
  TensorRef target, weight;

  Classes(const Tensor& t, const Tensor* w) : target(readable(t)), weight(w ? readable(*w) : TensorRef()) {}
};

TensorRef on_device_of(const Tensor& t, TensorRef made) {
  return t.device().type == DeviceType::PrivateUse ? ops::_to_copy(*made, std::nullopt, t.device()) : made;
}

TensorRef class_distribution(Tensor& input, Tensor& target, const CrossEntropy& o) {
  if (!((input.keys | target.keys) & kMemoryKeys)) return kernels::target_distribution(input, target, o);
  const Classes classes(target, o.weight);
  CrossEntropy here = o;
  here.weight = classes.weight.get();
  const TensorRef shape = empty(input.sizes(), input.dtype());
  return on_device_of(input, kernels::target_distribution(*shape, *classes.target, here));
}

}  // namespace

TensorRef cross_entropy_index_backward(Tensor& g, Tensor& input, Tensor& target, Tensor* weight, int64_t ignore_index,
                                       std::string_view reduction, double label_smoothing) {
  const CrossEntropy o{weight, ignore_index, kernels::parse_reduction("cross_entropy", reduction, {}, {}),
                       label_smoothing};
  const int64_t dims[] = {input.dim() == 1 ? 0 : 1};
  const Var q = class_distribution(input, target, o), p = ops::softmax_int(input, dims[0]);
  return (p * q.sum(dims) - q) * over_classes(g, input.sizes(), o.reduction);
}
TensorRef cross_entropy_index_backward_fused(Tensor& g, Tensor& input, Tensor& target, Tensor* weight,
                                             int64_t ignore_index, std::string_view reduction, double label_smoothing) {
  return kernels::cross_entropy_grad(
      g, input, target,
      {weight, ignore_index, kernels::parse_reduction("cross_entropy", reduction, {}, {}), label_smoothing});
}

TensorRef nll_loss_index_backward(Tensor& g, IntList input_sizes, Tensor& target, Tensor* weight, int64_t ignore_index,
                                  std::string_view reduction) {
  const Reduction r = kernels::parse_reduction("nll_loss", reduction, {}, {});
  const Classes classes(target, weight);
  return Var(on_device_of(
             g, kernels::nll_slope(input_sizes, g.dtype(), *classes.target, classes.weight.get(), ignore_index, r))) *
         over_classes(g, input_sizes, r);
}

// ---- embedding

TensorRef embedding_backward(Tensor& g, Tensor& input, IntList weight_sizes, std::optional<int64_t> padding_idx,
                             bool scale_grad_by_freq) {
  if (g.is_meta()) return empty(weight_sizes, g.dtype(), g.device());
  const int64_t flat[] = {input.numel()}, rows[] = {input.numel(), weight_sizes[1]};
  TensorRef table = empty(weight_sizes, g.dtype(), g.device()), index = ops::reshape(input, flat);
  fill_into(*table, Scalar(0));
  Var grads = Var(g).reshape(rows);
  if (padding_idx || scale_grad_by_freq) {
    TensorRef shares = kernels::embedding_shares(*readable(*index), weight_sizes[0],
                                                 kernels::wrap_padding_idx(padding_idx, weight_sizes[0]),
                                                 scale_grad_by_freq, g.dtype());
    grads = grads * Var(on_device_of(g, std::move(shares)));
  }
  return ops::index_add(*table, 0, *index, *grads);
}
TensorRef embedding_backward_fused(Tensor& g, Tensor& input, IntList weight_sizes, std::optional<int64_t> padding_idx,
                                   bool scale_grad_by_freq) {
  return kernels::embedding_grad(g, input, weight_sizes, kernels::wrap_padding_idx(padding_idx, weight_sizes[0]),
                                 scale_grad_by_freq);
}

}  // namespace vivace::formulas
