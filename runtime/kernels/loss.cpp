// Losses that compare two tensors elementwise: values, sums and gradients of each from one pair of formulas.
#include <algorithm>
#include <cmath>

#include "generated/kernels/nn/loss.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/rows.h"

namespace vivace {
namespace {

using dense::ElementLoss;

/// t broadcast to sizes, contiguous, in dtype.
TensorRef expanded(Tensor& t, IntList sizes, DType dtype) {
  if (std::equal(t.sizes().begin(), t.sizes().end(), sizes.begin(), sizes.end()) && t.dtype() == dtype)
    return contiguous(t);
  TensorRef out = empty(sizes, dtype);
  copy_into(*out, t);
  return out;
}

}  // namespace

namespace kernels {

Reduction parse_reduction(const char* op, std::string_view text, std::optional<bool> size_average,
                          std::optional<bool> reduce) {
  if (size_average || reduce) {
    if (!reduce.value_or(true)) return Reduction::None;
    return size_average.value_or(true) ? Reduction::Mean : Reduction::Sum;
  }
  if (text == "mean") return Reduction::Mean;
  if (text == "sum") return Reduction::Sum;
  if (text == "none") return Reduction::None;
  fail_value(op, ": ", text, " is not a valid value for reduction");
}

static void refuse_weight(const char* op, const Tensor* weight) {
  if (weight) [[unlikely]]
    fail_not_implemented(op, ": the argument 'weight' is not supported");
}

/// Broadcasting a loss is most often a mistake.
static void warn_of_sizes(const Tensor& input, const Tensor& target) {
  const std::string text =
      str("Using a target size (torch.Size(", target.sizes(), ")) that is different to the input size (torch.Size(",
          input.sizes(),
          ")). This will likely lead to incorrect results due to broadcasting. Please ensure they have "
          "the same size.");
  warn(text.c_str());
}

static TensorRef loss_result(const char* op, Tensor& input, Tensor& target, Reduction reduction) {
  const DType dtype = input.dtype() == target.dtype() ? input.dtype() : result_type(input, target);
  check_floating(dtype, op);
  if (std::ranges::equal(input.sizes(), target.sizes())) {
    if (reduction == Reduction::None) return empty_like(input, dtype);
  } else {
    warn_of_sizes(input, target);
    const Dims sizes = broadcast_sizes(input.sizes(), target.sizes());
    if (reduction == Reduction::None) return empty(sizes, dtype, input.device());
  }
  return empty(IntList(), dtype, input.device());
}

static void run_loss(ElementLoss loss, Tensor& input, Tensor& target, Reduction reduction, double parameter,
                     Tensor& out) {
  const DType compute = compute_of(out.dtype());
  const bool same =
      std::equal(input.sizes().begin(), input.sizes().end(), target.sizes().begin(), target.sizes().end());
  const Dims sizes = same ? Dims(input.sizes()) : broadcast_sizes(input.sizes(), target.sizes());
  TensorRef x = expanded(input, sizes, compute), y = expanded(target, sizes, compute);
  const int64_t n = x->numel();
  RowBuffer buffer(out, out.dim(), compute);
  visit_compute(compute, "loss", [&]<class T>() {
    const auto& loops = dense::loss_loops<T>();
    const T *a = x->data<T>(), *b = y->data<T>();
    T* result = buffer.rows().data<T>();
    if (reduction == Reduction::None) return loops.values[int(loss)](a, b, result, n, T(parameter));
    const double sum = loops.sum[int(loss)](a, b, n, T(parameter));
    *result = T(reduction == Reduction::Mean ? sum / double(n) : sum);
  });
  buffer.finish();
}

TensorRef loss_slope(ElementLoss loss, Tensor& g, Tensor& input, Tensor& target, Reduction reduction, double parameter,
                     bool by_target) {
  const DType compute = compute_of(input.dtype() == target.dtype() ? input.dtype() : result_type(input, target));
  const bool same =
      std::equal(input.sizes().begin(), input.sizes().end(), target.sizes().begin(), target.sizes().end());
  const Dims sizes = same ? Dims(input.sizes()) : broadcast_sizes(input.sizes(), target.sizes());
  if (g.is_meta()) return empty(sizes, compute, g.device());
  TensorRef x = expanded(input, sizes, compute), y = expanded(target, sizes, compute), out = empty(sizes, compute);
  const int64_t n = out->numel();
  TensorRef grads = reduction == Reduction::None ? expanded(g, sizes, compute) : to_dtype(g, compute);
  visit_compute(compute, "loss", [&]<class T>() {
    const T *a = x->data<T>(), *b = y->data<T>(), *dy = grads->data<T>();
    if (by_target) std::swap(a, b);  // the losses are symmetric
    const auto slopes = dense::loss_loops<T>().slopes[int(loss)];
    if (reduction == Reduction::None) return slopes(a, b, dy, 1, out->data<T>(), n, T(parameter));
    const T scale = reduction == Reduction::Mean ? T(double(*dy) / double(n)) : *dy;
    slopes(a, b, &scale, 0, out->data<T>(), n, T(parameter));
  });
  return out;
}

}  // namespace kernels

namespace meta {

TensorRef mse_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                   std::string_view reduction, Tensor* weight) {
  kernels::refuse_weight("mse_loss", weight);
  return kernels::loss_result("mse_loss", input, target,
                              kernels::parse_reduction("mse_loss", reduction, size_average, reduce));
}
TensorRef l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                  std::string_view reduction, Tensor* weight) {
  kernels::refuse_weight("l1_loss", weight);
  return kernels::loss_result("l1_loss", input, target,
                              kernels::parse_reduction("l1_loss", reduction, size_average, reduce));
}
TensorRef smooth_l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                         std::string_view reduction, double beta) {
  if (beta < 0) fail("smooth_l1_loss does not support negative values for beta.");
  return kernels::loss_result("smooth_l1_loss", input, target,
                              kernels::parse_reduction("smooth_l1_loss", reduction, size_average, reduce));
}
TensorRef huber_loss(Tensor& input, Tensor& target, std::string_view reduction, double delta, Tensor* weight) {
  kernels::refuse_weight("huber_loss", weight);
  if (delta <= 0) fail("huber_loss does not support non-positive values for delta.");
  return kernels::loss_result("huber_loss", input, target, kernels::parse_reduction("huber_loss", reduction, {}, {}));
}

}  // namespace meta

namespace kernels {

void mse_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
              std::string_view reduction, Tensor*, Tensor& out) {
  run_loss(ElementLoss::Mse, input, target, parse_reduction("mse_loss", reduction, size_average, reduce), 0, out);
}
void l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
             std::string_view reduction, Tensor*, Tensor& out) {
  run_loss(ElementLoss::L1, input, target, parse_reduction("l1_loss", reduction, size_average, reduce), 0, out);
}
void smooth_l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                    std::string_view reduction, double beta, Tensor& out) {
  run_loss(beta == 0 ? ElementLoss::L1 : ElementLoss::SmoothL1, input, target,
           parse_reduction("smooth_l1_loss", reduction, size_average, reduce), beta, out);
}
void huber_loss(Tensor& input, Tensor& target, std::string_view reduction, double delta, Tensor*, Tensor& out) {
  run_loss(ElementLoss::Huber, input, target, parse_reduction("huber_loss", reduction, {}, {}), delta, out);
}

}  // namespace kernels
}  // namespace vivace
