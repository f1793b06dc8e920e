// Functions of nn.functional that check and choose, and then call one operator.
#include <cmath>

#include "generated/kernels/nn/dropout.h"
#include "generated/kernels/nn/loss.h"
#include "generated/kernels/nn/norm.h"
#include "generated/kernels/nn/softmax.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/index/join.h"
#include "generated/ops/nn/dropout.h"
#include "generated/ops/nn/loss.h"
#include "generated/ops/nn/norm.h"
#include "generated/ops/nn/softmax.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/reduce/moments.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/kernels/loss.h"

namespace vivace::composite {
namespace {

/// What softmax takes for dim=None.
int64_t implicit_dim(const Tensor& input, std::optional<int64_t> dim) {
  if (dim) return *dim;
  return input.dim() == 0 || input.dim() == 1 || input.dim() == 3 ? 0 : 1;
}

bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.dim() == b.dim() && std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin());
}

/// For arguments by which a function is not differentiable: a gradient that never comes would go unnoticed.
void refuse_grad(const char* function, const char* argument, const Tensor* t) {
  if (tls.grad_mode && t && t->requires_grad())
    fail("The function '", function, "' is not differentiable with respect to argument '", argument,
         "'. This input cannot have requires_grad True.");
}

constexpr std::string_view name_of(kernels::Reduction r) {
  return r == kernels::Reduction::Mean ? "mean" : r == kernels::Reduction::Sum ? "sum" : "none";
}

}  // namespace

// ---- softmax

TensorRef softmax_function(Tensor& input, std::optional<int64_t> dim, int64_t, std::optional<DType> dtype) {
  return ops::softmax_int(input, implicit_dim(input, dim), dtype);
}
TensorRef log_softmax_function(Tensor& input, std::optional<int64_t> dim, int64_t, std::optional<DType> dtype) {
  return ops::log_softmax_int(input, implicit_dim(input, dim), dtype);
}
TensorRef softmin(Tensor& input, std::optional<int64_t> dim, int64_t, std::optional<DType> dtype) {
  TensorRef negated = ops::neg(input);
  return ops::softmax_int(*negated, implicit_dim(input, dim), dtype);
}

// ---- norms

TensorRef layer_norm_torch(Tensor& input, IntList normalized_shape, Tensor* weight, Tensor* bias, double eps, bool) {
  return ops::layer_norm(input, normalized_shape, weight, bias, eps);
}

TensorRef group_norm_torch(Tensor& input, int64_t num_groups, Tensor* weight, Tensor* bias, double eps, bool) {
  return ops::group_norm(input, num_groups, weight, bias, eps);
}

TensorRef batch_norm(Tensor& input, Tensor* running_mean, Tensor* running_var, Tensor* weight, Tensor* bias,
                     bool training, double momentum, double eps) {
  if (eps < 0) fail_value("batch_norm eps must be non-negative, but got ", eps);
  if (training) return ops::batch_norm_train(input, weight, bias, running_mean, running_var, momentum, eps);
  if (!running_mean || !running_var)
    fail("batch_norm: Expected running_mean and running_var to be defined when training=False");
  if (input.dim() < 2 && input.numel() == 0) return ops::clone(input, std::nullopt);
  return ops::batch_norm_eval(input, weight, bias, *running_mean, *running_var, eps);
}
TensorRef batch_norm_torch(Tensor& input, Tensor* weight, Tensor* bias, Tensor* running_mean, Tensor* running_var,
                           bool training, double momentum, double eps, bool) {
  return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps);
}

namespace {

/// Mean and 1 / deviation over dims, in the dtype of the input.
std::tuple<TensorRef, TensorRef> moments_of(Tensor& input, IntList dims, bool keepdim, double eps) {
  const TensorRef wide = ops::to_dtype(input, compute_of(input.dtype()));
  const Scalar no_correction(0);
  const auto [var, mean] = ops::var_mean_correction(*wide, dims, &no_correction, keepdim);
  const TensorRef inverse = ops::rsqrt(*ops::add_Scalar(*var, Scalar(eps)));
  return {ops::to_dtype(*mean, input.dtype()), ops::to_dtype(*inverse, input.dtype())};
}

}  // namespace

std::tuple<TensorRef, TensorRef, TensorRef> native_layer_norm(Tensor& input, IntList normalized_shape, Tensor* weight,
                                                              Tensor* bias, double eps) {
  TensorRef out = ops::layer_norm(input, normalized_shape, weight, bias, eps);
  Dims dims;
  for (int64_t d = input.dim() - int64_t(normalized_shape.size()); d < input.dim(); ++d) dims.push(d);
  auto [mean, rstd] = moments_of(*ops::detach(input), dims, true, eps);  // PyTorch gives these no gradient
  return {std::move(out), std::move(mean), std::move(rstd)};
}

std::tuple<TensorRef, TensorRef, TensorRef> native_group_norm(Tensor& input, Tensor* weight, Tensor* bias, int64_t N,
                                                              int64_t C, int64_t HxW, int64_t group, double eps) {
  if (input.dim() < 2 || input.size(0) != N || input.size(1) != C || (N * C != 0 && input.numel() / (N * C) != HxW))
    fail("native_group_norm: an input of shape ", input.sizes(), " doesn't have N = ", N, ", C = ", C, ", HxW = ", HxW);
  TensorRef out = ops::group_norm(input, group, weight, bias, eps);
  const TensorRef rows = ops::reshape(input, Dims{N, group, N && group ? input.numel() / N / group : 0});
  auto [mean, rstd] = moments_of(*rows, kInts<2>, false, eps);
  return {std::move(out), std::move(mean), std::move(rstd)};
}

std::tuple<TensorRef, TensorRef, TensorRef> native_batch_norm(Tensor& input, Tensor* weight, Tensor* bias,
                                                              Tensor* running_mean, Tensor* running_var, bool training,
                                                              double momentum, double eps) {
  TensorRef out = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps);
  const DType saved = weight ? weight->dtype() : input.dtype();
  if (!training) return {std::move(out), empty({0}, saved, input.device()), empty({0}, saved, input.device())};
  Dims others({0});
  for (int64_t d = 2; d < input.dim(); ++d) others.push(d);
  const TensorRef wide = ops::to_dtype(*ops::detach(input), is_half(input.dtype()) ? DType::Float32 : input.dtype());
  const Scalar no_correction(0);
  const auto [var, mean] = ops::var_mean_correction(*wide, IntList(others), &no_correction, false);
  const TensorRef inverse = ops::rsqrt(*ops::add_Scalar(*var, Scalar(eps)));
  return {std::move(out), ops::to_dtype(*mean, saved), ops::to_dtype(*inverse, saved)};
}

TensorRef instance_norm(Tensor& input, Tensor* running_mean, Tensor* running_var, Tensor* weight, Tensor* bias,
                        bool use_input_stats, double momentum, double eps) {
  if (!use_input_stats) return batch_norm(input, running_mean, running_var, weight, bias, false, momentum, eps);
  if (input.dim() < 3) fail_value("Expected more than 1 spatial element when training, got input size ", input.sizes());
  const int64_t batches = input.sizes()[0], channels = input.sizes()[1];
  if (batches * channels > 0 && input.numel() / (batches * channels) == 1)
    fail_value("Expected more than 1 spatial element when training, got input size ", input.sizes());
  if (!running_mean && !running_var) return ops::group_norm(input, channels, weight, bias, eps);
  // Running statistics are means over the samples of each sample's own.
  const auto repeated = [&](Tensor* t) -> TensorRef {
    if (!t) return {};
    const int64_t times[] = {batches};
    return ops::repeat(*t, times);
  };
  TensorRef mean = repeated(running_mean), var = repeated(running_var), w = repeated(weight), b = repeated(bias);
  Dims sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = batches * channels;
  TensorRef wide = ops::reshape(input, sizes);
  TensorRef out = ops::batch_norm_train(*wide, w.get(), b.get(), mean.get(), var.get(), momentum, eps);
  const int64_t grid[] = {batches, channels}, first[] = {0};
  for (auto& [running, moved] : {std::pair{running_mean, &mean}, {running_var, &var}}) {
    if (!running) continue;
    TensorRef rows = ops::view(**moved, grid);
    TensorRef average = ops::mean_dim(*rows, IntList(first));
    ops::copy_(*running, *average);
  }
  return ops::view(*out, input.sizes());
}

TensorRef rms_norm(Tensor& input, IntList normalized_shape, Tensor* weight, std::optional<double> eps) {
  const IntList sizes = input.sizes();
  if (normalized_shape.empty() || sizes.size() < normalized_shape.size() ||
      !std::equal(normalized_shape.begin(), normalized_shape.end(), sizes.end() - normalized_shape.size()))
    fail("rms_norm: Given normalized_shape=", normalized_shape,
         ", expected input whose last sizes equal it, but got input of size ", sizes);
  Dims dims;
  for (size_t d = sizes.size() - normalized_shape.size(); d < sizes.size(); ++d) dims.push(int64_t(d));
  const double epsilon = eps.value_or(real_of(input.dtype()) == DType::Float64 ? 0x1p-52 : 0x1p-23);
  TensorRef wide = ops::contiguous(input, MemoryFormat::Contiguous);
  if (is_half(input.dtype())) wide = ops::to_dtype(*wide, DType::Float32);
  TensorRef squares = ops::square(*wide), mean = ops::mean_dim(*squares, IntList(dims), true),
            shifted = ops::add_Scalar(*mean, Scalar(epsilon)), rstd = ops::rsqrt(*shifted),
            unit = ops::mul_Tensor(*wide, *rstd);
  TensorRef out = weight ? ops::mul_Tensor(*unit, *weight) : unit;
  return out->dtype() == input.dtype() ? out : ops::to_dtype(*out, input.dtype());
}

// ---- losses

static TensorRef cross_entropy_probabilities(Tensor& input, Tensor& target, Tensor* weight,
                                             kernels::Reduction reduction, double label_smoothing) {
  if (label_smoothing < 0 || label_smoothing > 1)
    fail("label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  const int64_t dim = input.dim() == 1 ? 0 : 1, classes = input.sizes()[dim], dims[] = {dim};
  TensorRef logs = ops::log_softmax_int(input, dim), q = TensorRef::share(&target);
  if (label_smoothing > 0) {
    TensorRef kept = ops::mul_Scalar(*q, Scalar(1 - label_smoothing));
    q = ops::add_Scalar(*kept, Scalar(label_smoothing / double(classes)));
  }
  TensorRef products = ops::mul_Tensor(*logs, *q);
  if (weight) {
    Dims sizes;
    for (int64_t d = 0; d < input.dim(); ++d) sizes.push(d == dim ? classes : 1);
    TensorRef w = ops::view(*weight, sizes);
    products = ops::mul_Tensor(*products, *w);
  }
  TensorRef losses = ops::sum_dim_IntList(*products, IntList(dims));
  losses = ops::neg(*losses);
  if (reduction == kernels::Reduction::None) return losses;
  TensorRef total = ops::sum(*losses);
  if (reduction == kernels::Reduction::Sum) return total;
  // The mean over no classes is NaN, as PyTorch's.
  return ops::div_Scalar(*total, Scalar(classes == 0 ? 0.0 : double(losses->numel())));
}

TensorRef cross_entropy(Tensor& input, Tensor& target, Tensor* weight, std::optional<bool> size_average,
                        int64_t ignore_index, std::optional<bool> reduce, std::string_view reduction,
                        double label_smoothing) {
  const kernels::Reduction r = kernels::parse_reduction("cross_entropy", reduction, size_average, reduce);
  if (same_sizes(input, target) && is_floating(target.dtype()))
    return cross_entropy_probabilities(input, target, weight, r, label_smoothing);
  refuse_grad("cross_entropy", "weight", weight);
  return ops::cross_entropy_index(input, target, weight, ignore_index, name_of(r), label_smoothing);
}

TensorRef nll_loss(Tensor& input, Tensor& target, Tensor* weight, std::optional<bool> size_average,
                   int64_t ignore_index, std::optional<bool> reduce, std::string_view reduction) {
  refuse_grad("nll_loss", "weight", weight);
  return ops::nll_loss_index(input, target, weight, ignore_index,
                             name_of(kernels::parse_reduction("nll_loss", reduction, size_average, reduce)));
}

// ---- dropout

static void check_probability(const char* op, double p) {
  if (p < 0 || p > 1) fail_value(op, ": dropout probability has to be between 0 and 1, but got ", p);
  if (std::isnan(p)) fail(op, ": dropout probability has to be between 0 and 1, but got ", p);
}

TensorRef dropout(Tensor& input, double p, bool training, bool inplace) {
  check_probability("dropout", p);
  if (!training || p == 0) return TensorRef::share(&input);
  if (!inplace) return std::get<0>(ops::masked_by_chance(input, p));
  TensorRef mask = ops::scaled_mask(input, input.sizes(), p);
  return TensorRef::share(&ops::mul__Tensor(input, *mask));
}
TensorRef dropout_torch(Tensor& input, double p, bool train) {
  if (p < 0 || p > 1) fail("dropout: dropout probability has to be between 0 and 1, but got ", p);
  return dropout(input, p, train, false);
}

static TensorRef feature_dropout(const char* op, Tensor& input, double p, bool training, bool inplace, bool batched) {
  check_probability(op, p);
  if (!training || p == 0) return TensorRef::share(&input);
  Dims sizes(input.sizes());
  for (int d = batched ? 2 : 1; d < sizes.n; ++d) sizes[d] = 1;
  TensorRef mask = ops::scaled_mask(input, sizes, p);
  if (inplace) return TensorRef::share(&ops::mul__Tensor(input, *mask));
  return ops::mul_Tensor(input, *mask);
}
TensorRef dropout1d(Tensor& input, double p, bool training, bool inplace) {
  return feature_dropout("dropout1d", input, p, training, inplace, input.dim() != 2);
}
TensorRef dropout2d(Tensor& input, double p, bool training, bool inplace) {
  return feature_dropout("dropout2d", input, p, training, inplace, true);
}
TensorRef dropout3d(Tensor& input, double p, bool training, bool inplace) {
  return feature_dropout("dropout3d", input, p, training, inplace, input.dim() != 4);
}

}  // namespace vivace::composite
