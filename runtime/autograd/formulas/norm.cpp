// Derivatives of the normalisations: fused where no graph is asked for, formulas where one is.
#include "runtime/kernels/norm.h"
#include "generated/formulas/nn/norm.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/var.h"

namespace vivace::formulas {
namespace {

using Three = std::tuple<TensorRef, TensorRef, TensorRef>;
using Five = std::tuple<TensorRef, TensorRef, TensorRef, TensorRef, TensorRef>;

Dims last_dims(int64_t ndim, size_t n) {
  Dims dims;
  for (int64_t d = ndim - int64_t(n); d < ndim; ++d) dims.push(d);
  return dims;
}

/// All dims but that of the channels.
Dims other_dims(int64_t ndim) {
  Dims dims{0};
  for (int64_t d = 2; d < ndim; ++d) dims.push(d);
  return dims;
}

/// A vector over channels, shaped to broadcast against (N, C, ...).
Var per_channel(Tensor& t, int64_t ndim) {
  Dims sizes{1, t.numel()};
  for (int64_t d = 2; d < ndim; ++d) sizes.push(1);
  return ops::reshape(t, sizes);
}

Var channel_sum(const Var& g) { return ops::sum_dim_IntList(*g, IntList(other_dims((*g).dim()))); }

struct Standard {
  Var rstd, unit;  // unit: (x - mean) * rstd
};
Standard standardize(const Var& x, IntList dims, double eps) {
  const Var centred = x - x.mean(dims), variance = (centred * centred).mean(dims);
  Var rstd = ops::rsqrt(*(variance + eps));
  return {rstd, centred * rstd};
}
/// Gradient through standardize, g being that of `unit`.
Var unstandardize(const Var& g, const Standard& s, IntList dims) {
  return s.rstd * (g - g.mean(dims) - s.unit * (g * s.unit).mean(dims));
}

}  // namespace

Three layer_norm_backward(Tensor& g, Tensor& input, IntList normalized_shape, Tensor* weight, double eps, Needs needs) {
  const Dims dims = last_dims(input.dim(), normalized_shape.size());
  const Standard s = standardize(input, dims, eps);
  Three out;
  if (wants(needs, 0)) std::get<0>(out) = unstandardize(weight ? Var(g) * Var(*weight) : Var(g), s, dims);
  if (wants(needs, 1)) std::get<1>(out) = Var(g) * s.unit;
  if (wants(needs, 2)) std::get<2>(out) = Var(g);
  return out;
}
Three layer_norm_backward_fused(Tensor& g, Tensor& input, IntList normalized_shape, Tensor* weight, double eps,
                                Needs needs) {
  return kernels::layer_norm_grad(g, input, normalized_shape, weight, eps, needs);
}

Five batch_norm_train_backward(Tensor& g, Tensor& input, Tensor* weight, double eps, Needs needs) {
  const Dims dims = other_dims(input.dim());
  const Standard s = standardize(input, dims, eps);
  Five out;
  if (wants(needs, 0))
    std::get<0>(out) = unstandardize(weight ? Var(g) * per_channel(*weight, input.dim()) : Var(g), s, dims);
  if (wants(needs, 1)) std::get<1>(out) = channel_sum(Var(g) * s.unit);
  if (wants(needs, 2)) std::get<2>(out) = channel_sum(g);
  return out;
}
Five batch_norm_train_backward_fused(Tensor& g, Tensor& input, Tensor* weight, double eps, Needs needs) {
  auto [x, w, b] = kernels::batch_norm_grad(g, input, weight, nullptr, nullptr, eps, needs);
  return {std::move(x), std::move(w), std::move(b), TensorRef(), TensorRef()};
}

Five batch_norm_eval_backward(Tensor& g, Tensor& input, Tensor* weight, Tensor& running_mean, Tensor& running_var,
                              double eps, Needs needs) {
  const int64_t n = input.dim();
  const Var rstd = ops::rsqrt(*(per_channel(running_var, n) + eps));
  Five out;
  if (wants(needs, 0)) std::get<0>(out) = weight ? Var(g) * rstd * per_channel(*weight, n) : Var(g) * rstd;
  if (wants(needs, 1)) std::get<1>(out) = channel_sum(Var(g) * (Var(input) - per_channel(running_mean, n)) * rstd);
  if (wants(needs, 2)) std::get<2>(out) = channel_sum(g);
  return out;
}
Five batch_norm_eval_backward_fused(Tensor& g, Tensor& input, Tensor* weight, Tensor& running_mean, Tensor& running_var,
                                    double eps, Needs needs) {
  auto [x, w, b] = kernels::batch_norm_grad(g, input, weight, &running_mean, &running_var, eps, needs);
  return {std::move(x), std::move(w), std::move(b), TensorRef(), TensorRef()};
}

Three group_norm_backward(Tensor& g, Tensor& input, int64_t num_groups, Tensor* weight, double eps, Needs needs) {
  const int64_t batches = input.sizes()[0], per_group = batches ? input.numel() / (batches * num_groups) : 0;
  const int64_t grouped[] = {batches, num_groups, per_group}, last[] = {2};
  const Standard s = standardize(Var(input).reshape(grouped), last, eps);
  Three out;
  if (wants(needs, 0)) {
    const Var slope = weight ? Var(g) * per_channel(*weight, input.dim()) : Var(g);
    std::get<0>(out) = unstandardize(slope.reshape(grouped), s, last).reshape(input.sizes());
  }
  if (wants(needs, 1)) std::get<1>(out) = channel_sum(Var(g) * s.unit.reshape(input.sizes()));
  if (wants(needs, 2)) std::get<2>(out) = channel_sum(g);
  return out;
}
Three group_norm_backward_fused(Tensor& g, Tensor& input, int64_t num_groups, Tensor* weight, double eps, Needs needs) {
  return kernels::group_norm_grad(g, input, num_groups, weight, eps, needs);
}

}  // namespace vivace::formulas
