// Distances: checks and broadcasting before the kernels, and what is made of norms.
#include <algorithm>

#include "generated/kernels/linalg/distance.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/linalg/distance.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"

namespace vivace::composite {
namespace {

/// From so many rows, distances of p=2 are a product of matrices unless asked otherwise.
constexpr int64_t kManyRows = 26;

enum class Mode { IfNecessary, Product, Direct };

Mode mode_of(std::optional<std::string_view> name) {
  if (!name || *name == "use_mm_for_euclid_dist_if_necessary") return Mode::IfNecessary;
  if (*name == "use_mm_for_euclid_dist") return Mode::Product;
  if (*name == "donot_use_mm_for_euclid_dist") return Mode::Direct;
  fail_value(*name, " is not a valid value for compute_mode");
}

}  // namespace

TensorRef cdist(Tensor& x1, Tensor& x2, double p, std::optional<std::string_view> compute_mode) {
  const Mode mode = mode_of(compute_mode);
  for (Tensor* x : {&x1, &x2}) {
    const char* which = x == &x1 ? "X1" : "X2";
    if (is_complex(x->dtype()) || !is_differentiable(x->dtype()))
      fail("cdist only supports floating-point dtypes, ", which, " got: ", x->dtype());
    if (x->dim() < 2) fail("cdist only supports at least 2D tensors, ", which, " got: ", x->dim(), "D");
  }
  if (x1.size(-1) != x2.size(-1))
    fail("X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
  if (x1.dtype() != x2.dtype()) fail("cdist: expected scalar type ", x1.dtype(), " but found ", x2.dtype());
  if (p < 0) fail("cdist only supports non-negative p values");
  const int64_t rows1 = x1.size(-2), rows2 = x2.size(-2), m = x1.size(-1);
  const auto leading = [](Tensor& t) { return t.sizes().first(size_t(t.dim() - 2)); };
  const Dims batch = broadcast_sizes(leading(x1), leading(x2));
  const auto spread = [&](Tensor& t) {
    if (std::ranges::equal(leading(t), IntList(batch))) return TensorRef::share(&t);
    Dims sizes = batch;
    sizes.push(t.size(-2));
    sizes.push(m);
    return ops::expand(t, sizes, false);
  };
  const TensorRef a = spread(x1), b = spread(x2);
  const bool many = rows1 >= kManyRows || rows2 >= kManyRows;
  const bool product = p == 2 && (mode == Mode::Product || (mode == Mode::IfNecessary && many));
  return product ? ops::_euclidean_dist(*a, *b) : ops::_cdist_forward(*a, *b, p);
}

TensorRef dist(Tensor& self, Tensor& other, const Scalar& p) {
  return ops::linalg_vector_norm(*ops::sub_Tensor(self, other, Scalar(1)), p, std::nullopt, false, std::nullopt);
}

TensorRef renorm(Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  if (p.is_complex()) fail("renorm: p must be real-valued");
  if (!(p.to_double() > 0)) fail("renorm: non-positive-norm not supported");
  if (maxnorm.is_complex()) fail("renorm: maxnorm must be real-valued");
  if (!(maxnorm.to_double() >= 0)) fail("renorm: expected maxnorm to be >= 0 but got ", maxnorm.to_double());
  if (self.dim() < 2) fail("renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  Dims others;
  const int64_t kept = wrap_dim(dim, self.dim());
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push(d);
  const std::optional<DType> wide = is_half(self.dtype()) ? std::optional(DType::Float32) : std::nullopt;
  const TensorRef norm = ops::linalg_vector_norm(self, p, IntList(others), true, wide);
  const TensorRef scale = ops::mul_Scalar(*ops::reciprocal(*ops::add_Scalar(*norm, Scalar(1e-7), Scalar(1))), maxnorm);
  const TensorRef factor = ops::where_ScalarOther(*ops::gt_Scalar(*norm, maxnorm), *scale, Scalar(1.0));
  return ops::to_dtype(*ops::mul_Tensor(*ops::contiguous(self), *factor), self.dtype());
}

}  // namespace vivace::composite
