// Derivatives of softmax, losses and embedding: fused where no graph is asked for, formulas where one is.
#include "generated/formulas/nn/embedding.h"
#include "generated/formulas/nn/loss.h"
#include "generated/formulas/nn/softmax.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/select.h"
#include "generated/ops/nn/softmax.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/var.h"
#include "runtime/autograd/formulas/zeros.h"
#include "runtime/composite/value.h"
#include "runtime/kernels/embedding.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/softmax.h"

namespace vivace::formulas {

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
    case ElementLoss::SmoothL1:
    case ElementLoss::Huber:
      break;
  }
  // Where both pieces meet the slope is that of the outer one.
  const double outer = loss == ElementLoss::Huber ? parameter : 1;
  const TensorRef is_outer = ops::ge_Scalar(*ops::abs(*difference), Scalar(parameter));
  return ops::where_self(*is_outer, *(Var(ops::sign(*difference)) * outer), *(difference * (outer / parameter)));
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

int64_t class_dim(IntList scores) { return scores.size() == 1 ? 0 : 1; }

/// A vector, shaped to broadcast against ndim dims along one of them.
Var along(Tensor& vector, int64_t dim, int64_t ndim) {
  Dims sizes;
  for (int64_t d = 0; d < ndim; ++d) sizes.push(d == dim ? -1 : 1);
  return ops::reshape(vector, sizes);
}

/// Class indices, in operators.
struct Targets {
  int64_t dim;
  Var index;    // 0 where a target is ignored
  Var shares;   // what a target counts for in the result: 1 over the total weight in a mean; 0 where it is ignored
  Var weights;  // the same times its class's weight

  Targets(Tensor& target, int64_t class_dim, Tensor* weight, int64_t ignore_index, Reduction reduction, DType dtype)
      : dim(class_dim), index(ops::to_dtype(target, DType::Int64)), shares(index), weights(index) {
    const Var counts = ops::unsqueeze(*ops::ne_Scalar(*index, Scalar(ignore_index)), dim);
    index = ops::where_ScalarOther(*counts, *ops::unsqueeze(*index, dim), Scalar(int64_t(0)));
    shares = ops::to_dtype(*counts, dtype);
    weights = shares;
    if (weight) {
      const int64_t flat[] = {-1};
      weights = Var(ops::index_select(*weight, 0, *index.reshape(flat))).reshape((*index).sizes()) * shares;
    }
    if (reduction != Reduction::Mean) return;
    const TensorRef total = ops::sum(*weights);  // of no weight: nothing counts
    shares = ops::where_ScalarOther(*counts, *ops::div_Tensor(*shares, *total), Scalar(0.0));
    weights = ops::where_ScalarOther(*counts, *ops::div_Tensor(*weights, *total), Scalar(0.0));
  }
  /// Values at the targets among zeros.
  Var spread(IntList sizes, const Var& values) const {
    return ops::scatter_src(*ops::zeros(sizes, (*values).dtype(), (*values).device()), dim, *index, *values);
  }
};

}  // namespace

TensorRef cross_entropy_index_backward(Tensor& g, Tensor& input, Tensor& target, Tensor* weight, int64_t ignore_index,
                                       std::string_view reduction, double label_smoothing) {
  const Reduction r = kernels::parse_reduction("cross_entropy", reduction, {}, {});
  const int64_t dim = class_dim(input.sizes()), dims[] = {dim};
  const Targets t(target, dim, weight, ignore_index, r, compute_of(input.dtype()));
  Var q = t.spread(input.sizes(), t.weights * (1 - label_smoothing));
  if (label_smoothing > 0) {
    Var everywhere = t.shares * (label_smoothing / double(input.sizes()[dim]));
    q = q + (weight ? everywhere * along(*weight, dim, input.dim()) : everywhere);
  }
  const Var p = ops::softmax_int(input, dim);
  return (p * q.sum(dims) - q) * over_classes(g, input.sizes(), r);
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
  if (may_fuse() && !g.is_meta()) return kernels::nll_grad(g, input_sizes, target, weight, ignore_index, r);
  const Targets t(target, class_dim(input_sizes), weight, ignore_index, r, compute_of(g.dtype()));
  return -t.spread(input_sizes, t.weights) * over_classes(g, input_sizes, r);
}

// ---- embedding

TensorRef embedding_backward(Tensor& g, Tensor& input, IntList weight_sizes, std::optional<int64_t> padding_idx,
                             bool scale_grad_by_freq) {
  const int64_t flat[] = {input.numel()}, rows[] = {input.numel(), weight_sizes[1]}, column[] = {input.numel(), 1};
  const TensorRef index = ops::reshape(input, flat);
  Var grads = Var(g).reshape(rows);
  if (padding_idx) {
    const int64_t padding = kernels::wrap_padding_idx(padding_idx, weight_sizes[0]);
    grads = ops::masked_fill_Scalar(*grads, *ops::reshape(*ops::eq_Scalar(*index, Scalar(padding)), column), 0);
  }
  if (scale_grad_by_freq) {
    const TensorRef none = ops::zeros(weight_sizes.first(1), g.dtype(), g.device()),
                    each = ops::ones(flat, g.dtype(), g.device()),
                    counts = ops::index_select(*ops::index_add(*none, 0, *index, *each), 0, *index);
    grads = ops::div_Tensor(*grads, *ops::reshape(*counts, column));
  }
  return slices_added(*grads, weight_sizes, 0, *index);
}
TensorRef embedding_backward_fused(Tensor& g, Tensor& input, IntList weight_sizes, std::optional<int64_t> padding_idx,
                                   bool scale_grad_by_freq) {
  return kernels::embedding_grad(g, input, weight_sizes, kernels::wrap_padding_idx(padding_idx, weight_sizes[0]),
                                 scale_grad_by_freq);
}

}  // namespace vivace::formulas
