// scaled_dot_product_attention: the blockwise operator where it applies, else the formula in operators.
#include <cmath>
#include <limits>

#include "generated/kernels/nn/attention.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/repeat.h"
#include "generated/ops/index/triangle.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/nn/attention.h"
#include "generated/ops/nn/dropout.h"
#include "generated/ops/nn/softmax.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/dims.h"
#include "runtime/dispatch/keys.h"
#include "runtime/vmap/batched.h"

namespace vivace::composite {
namespace {

/// A bool mask as numbers to add to the scores.
TensorRef additive(Tensor& mask, DType dtype) {
  if (!is_bool(mask.dtype())) return TensorRef::share(&mask);
  const TensorRef zeros = ops::zeros(mask.sizes(), dtype, mask.device());
  return ops::where_ScalarOther(mask, *zeros, Scalar(-std::numeric_limits<double>::infinity()));
}

TensorRef repeat_heads(Tensor& t, int64_t times) {
  return times == 1 ? TensorRef::share(&t) : ops::repeat_interleave_self_int(t, times, -3);
}

/// Groups of the query's heads share one head of the key and one of the value.
void check_groups(const char* op, const Tensor& query, const Tensor& key, const Tensor& value) {
  for (const Tensor* t : {&key, &value})
    if (t->size(-3) == 0 || query.size(-3) % t->size(-3) != 0)
      fail(op, ": Number of heads in key and value must divide the number of heads in query, but got ", query.size(-3),
           " heads in query, ", key.size(-3), " in key and ", value.size(-3), " in value");
}

TensorRef by_formula(Tensor& query, Tensor& key, Tensor& value, Tensor* mask, double dropout_p, bool is_causal,
                     double scale, bool enable_gqa) {
  TensorRef k = enable_gqa ? repeat_heads(key, query.size(-3) / key.size(-3)) : TensorRef::share(&key);
  TensorRef v = enable_gqa ? repeat_heads(value, query.size(-3) / value.size(-3)) : TensorRef::share(&value);
  TensorRef scaled = ops::mul_Scalar(query, Scalar(scale)), columns = ops::transpose_int(*k, -2, -1),
            scores = ops::matmul(*scaled, *columns);
  if (is_causal) {
    const int64_t sizes[] = {query.size(-2), key.size(-2)};
    const Scalar hidden(-std::numeric_limits<double>::infinity());
    const TensorRef causal = ops::triu(*ops::full(sizes, hidden, query.dtype(), query.device()), 1);
    scores = ops::add_Tensor(*scores, *causal);
  }
  if (mask) scores = ops::add_Tensor(*scores, *mask);
  TensorRef probs = ops::softmax_int(*scores, -1);
  if (mask) {
    // A row that sees nothing gives zeros, not NaN.
    const int64_t last[] = {-1};
    TensorRef hidden = ops::eq_Scalar(*scores, Scalar(-std::numeric_limits<double>::infinity())),
              blind = ops::all_dim(*hidden, last[0], true);
    probs = ops::masked_fill_Scalar(*probs, *blind, Scalar(0));
  }
  if (dropout_p > 0) probs = ops::dropout(*probs, dropout_p, true, false);
  return ops::matmul(*probs, *v);
}

}  // namespace

TensorRef scaled_dot_product_attention(Tensor& query, Tensor& key, Tensor& value, Tensor* attn_mask, double dropout_p,
                                       bool is_causal, std::optional<double> scale, bool enable_gqa) {
  const char* op = "scaled_dot_product_attention";
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2)
    fail(op, ": Expected query, key, and value to all be at least 2 dimensional, but got query.dim(): ", query.dim(),
         ", key.dim(): ", key.dim(), " and value.dim(): ", value.dim());
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    fail(op, ": Expected query, key, and value to have the same dtype, but got query.dtype: ", query.dtype(),
         " key.dtype: ", key.dtype(), " and value.dtype: ", value.dtype(), " instead.");
  if (enable_gqa) check_groups(op, query, key, value);
  if (is_causal && attn_mask) fail(op, ": Explicit attn_mask should not be set when is_causal=True");
  if (attn_mask && !is_bool(attn_mask->dtype()) && attn_mask->dtype() != query.dtype() &&
      attn_mask->dtype() != DType::Float32)
    fail(op, ": Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
         attn_mask->dtype(), " and query.dtype: ", query.dtype(), " instead.");
  const double factor = scale.value_or(1 / std::sqrt(double(std::max<int64_t>(1, query.size(-1)))));
  TensorRef mask = attn_mask ? additive(*attn_mask, query.dtype()) : TensorRef();
  const bool fits = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.sizes()[0] == key.sizes()[0] &&
                    key.sizes()[0] == value.sizes()[0] && key.sizes()[1] == value.sizes()[1] &&
                    (enable_gqa || query.sizes()[1] == key.sizes()[1]) && is_floating(query.dtype()) &&
                    query.sizes()[3] == key.sizes()[3] && key.sizes()[2] == value.sizes()[2];
  if (fits && dropout_p == 0 && !(mask && (base_of(*mask).requires_grad() || mask->dim() > 4)))
    return ops::attention(query, key, value, mask.get(), is_causal, factor);
  return by_formula(query, key, value, mask.get(), dropout_p, is_causal, factor, enable_gqa);
}

}  // namespace vivace::composite
