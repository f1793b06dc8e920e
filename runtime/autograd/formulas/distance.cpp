// Derivatives of distances. Where a graph is being made, the differences of all pairs are a tensor; else they never
// are.
#include "runtime/kernels/distance.h"

#include <cmath>

#include "generated/formulas/linalg/distance.h"
#include "generated/formulas/reduce/sums.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/index/select.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "runtime/autograd/formulas/matrix.h"
#include "runtime/autograd/node.h"

namespace vivace::formulas {
namespace {

/// The gradient by differences, whose norms along the last dim are y.
Var slopes(Tensor& g, const Var& difference, double p, Tensor& y) {
  if (!std::isinf(p)) {
    const int64_t last[] = {-1};
    return vector_norm_backward(g, *difference, y, Scalar(p), IntList(last), false);
  }
  const Var at = ops::eq_Tensor(*ops::abs(*difference), *column(y));
  return Var(ops::sgn(*difference)) * at * column(g);
}

}  // namespace

std::tuple<TensorRef, TensorRef> cdist_backward(Tensor& g, Tensor& x1, Tensor& x2, double p, Tensor& y, Needs needs) {
  TensorRef a, b;
  const Var all = slopes(g, Var(ops::unsqueeze(x1, -2)) - Var(ops::unsqueeze(x2, -3)), p, y);
  if (wants(needs, 0)) a = ops::sum_dim_IntList(*all, kInts<-2>, false);
  if (wants(needs, 1)) b = -Var(ops::sum_dim_IntList(*all, kInts<-3>, false));
  return {std::move(a), std::move(b)};
}
std::tuple<TensorRef, TensorRef> cdist_backward_fused(Tensor& g, Tensor& x1, Tensor& x2, double p, Tensor& y,
                                                      Needs needs) {
  if (g.is_meta()) return cdist_backward(g, x1, x2, p, y, needs);
  TensorRef a, b;
  if (wants(needs, 0)) a = kernels::cdist_grad(g, x1, x2, p, y);
  if (wants(needs, 1)) b = kernels::cdist_grad(*ops::mT(g), x2, x1, p, *ops::mT(y));
  return {std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef> euclidean_dist_backward(Tensor& g, Tensor& x1, Tensor& x2, Tensor& y, Needs needs) {
  const Var ratio = ops::masked_fill_Scalar(*ops::div_Tensor(g, y), *ops::eq_Scalar(y, Scalar(0)), Scalar(0));
  const auto gradient = [](const Var& weights, Tensor& x, Tensor& other) {
    return Var(x) * weights.sum(kInts<-1>) - mm(weights, other);
  };
  TensorRef a, b;
  if (wants(needs, 0)) a = gradient(ratio, x1, x2);
  if (wants(needs, 1)) b = gradient(transposed(ratio), x2, x1);
  return {std::move(a), std::move(b)};
}

namespace {

/// The rows of all pairs, in pdist's order.
std::pair<TensorRef, TensorRef> pairs_of(const Tensor& t) {
  const TensorRef places = ops::triu_indices(t.size(0), t.size(0), 1, std::nullopt, t.device());
  return {ops::select_int(*places, 0, 0), ops::select_int(*places, 0, 1)};
}

/// A value for each pair as a symmetric matrix: pdist is cdist of the rows with themselves, a pair at two places.
Var symmetric(Tensor& values, const Tensor& t) {
  const auto [first, second] = pairs_of(t);
  const int64_t square[] = {t.size(0), t.size(0)};
  Tensor* indices[] = {&*first, &*second};
  const Var upper =
      ops::index_put(*ops::zeros(square, values.dtype(), values.device()), TensorList(indices, 2), values);
  return upper + transposed(upper);
}

}  // namespace

TensorRef pdist_backward(Tensor& g, Tensor& self, double p, Tensor& y) {
  const auto [first, second] = pairs_of(self);
  const Var difference = Var(ops::index_select(self, 0, *first)) - Var(ops::index_select(self, 0, *second));
  const Var slope = slopes(g, difference, p, y);
  const TensorRef of_first = ops::index_add(*ops::zeros_like(self), 0, *first, *slope, Scalar(1));
  return ops::index_add(*of_first, 0, *second, *slope, Scalar(-1));
}
TensorRef pdist_backward_fused(Tensor& g, Tensor& self, double p, Tensor& y) {
  if (g.is_meta()) return pdist_backward(g, self, p, y);
  return kernels::cdist_grad(*symmetric(g, self), self, self, p, *symmetric(y, self));
}

}  // namespace vivace::formulas
