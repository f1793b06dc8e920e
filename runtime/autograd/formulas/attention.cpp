// Derivatives of attention: blockwise where no graph is asked for, in operators where one is.
#include <limits>

#include "generated/formulas/nn/attention.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/repeat.h"
#include "generated/ops/index/triangle.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/nn/softmax.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "runtime/autograd/formulas/var.h"
#include "runtime/kernels/attention.h"

namespace vivace::formulas {
namespace {

Var times(const Var& a, const Var& b) { return ops::matmul(*a, *b); }
Var turned(const Var& a) { return ops::transpose_int(*a, -2, -1); }

/// Sums the heads that share one of `like`.
TensorRef fold_heads(const Var& t, const Tensor& like) {
  const int64_t group = like.sizes()[1] ? (*t).sizes()[1] / like.sizes()[1] : 1;
  if (group == 1) return t;
  const int64_t sizes[] = {like.sizes()[0], like.sizes()[1], group, like.sizes()[2], like.sizes()[3]}, dims[] = {2};
  return ops::sum_dim_IntList(*t.reshape(sizes), IntList(dims));
}

}  // namespace

std::tuple<TensorRef, TensorRef, TensorRef, TensorRef> attention_backward(Tensor& g, Tensor& query, Tensor& key,
                                                                          Tensor& value, Tensor* mask, bool is_causal,
                                                                          double scale, Needs) {
  const int64_t group = key.sizes()[1] ? query.sizes()[1] / key.sizes()[1] : 1, last[] = {-1};
  const Var k = group == 1 ? Var(key) : Var(ops::repeat_interleave_self_int(key, group, 1));
  const Var v = group == 1 ? Var(value) : Var(ops::repeat_interleave_self_int(value, group, 1));
  Var scores = times(query, turned(k)) * scale;
  if (is_causal) {
    const int64_t sizes[] = {query.sizes()[2], key.sizes()[2]};
    const Scalar least(-std::numeric_limits<double>::infinity());
    TensorRef hidden = ops::full(sizes, least, query.dtype(), query.device());
    scores = scores + Var(ops::triu(*hidden, 1));
  }
  if (mask) scores = scores + Var(*mask);
  const Var p = ops::softmax_int(*scores, -1), slope = times(g, turned(v)),
            s = (slope - (slope * p).sum(last)) * p * scale;
  return {times(s, k), fold_heads(times(turned(s), query), key), fold_heads(times(turned(p), g), value), TensorRef()};
}

std::tuple<TensorRef, TensorRef, TensorRef, TensorRef> attention_backward_fused(Tensor& g, Tensor& query, Tensor& key,
                                                                                Tensor& value, Tensor* mask,
                                                                                bool is_causal, double scale, Needs) {
  auto [q, k, v] = kernels::attention_grad(g, query, key, value, mask, is_causal, scale);
  return {std::move(q), std::move(k), std::move(v), TensorRef()};
}

}  // namespace vivace::formulas
