// Integrals by the trapezoidal rule.
#include "generated/kernels/scan/integrals.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/scan/cumulative.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"

namespace vivace::composite {
namespace {

void check_dim(const Tensor& y, const char* name) {
  if (y.dim() == 0) fail_index(name, ": Dimension specified as -1 but tensor has no dimensions");
}
void check_step(const char* name, const Tensor& y, const Scalar& dx) {
  if (is_bool(y.dtype())) fail(name, ": received a bool input for `y`, but bool is not supported");
  if (dx.is_complex() || dx.tag == Tag::Bool) fail(name, ": Currently, we only support dx as a real number.");
}

/// All places along dim but the last, and all but the first.
TensorRef before(Tensor& t, int64_t dim) { return ops::slice_Tensor(t, dim, 0, -1); }
TensorRef after(Tensor& t, int64_t dim) { return ops::slice_Tensor(t, dim, 1); }

/// The steps between places x: those of a vector along y's dim, others of all dims.
TensorRef steps(const char* name, Tensor& y, Tensor& x, int64_t dim) {
  if (is_bool(y.dtype()) || is_bool(x.dtype()))
    fail(name, ": received a bool input for `x` or `y`, but bool is not supported");
  TensorRef places = TensorRef::share(&x);
  if (x.dim() == 1) {
    if (x.size(0) != y.size(dim)) fail(name, ": There must be one `x` value for each sample point");
    Dims sizes;
    for (int64_t d = 0; d < y.dim(); ++d) sizes.push(d == dim ? x.size(0) : 1);
    places = ops::reshape(x, sizes);
  } else if (x.dim() < y.dim()) {
    Dims sizes;
    for (int64_t d = x.dim(); d < y.dim(); ++d) sizes.push(1);
    for (int64_t n : x.sizes()) sizes.push(n);
    places = ops::reshape(x, sizes);
  }
  return ops::sub_Tensor(*after(*places, dim), *before(*places, dim), Scalar(1));
}

TensorRef zeros_without(const Tensor& y, int64_t dim) {
  Dims sizes;
  for (int64_t d = 0; d < y.dim(); ++d)
    if (d != dim) sizes.push(y.size(d));
  return ops::zeros(sizes, y.dtype(), y.device());
}

/// Twice the mean of neighbours.
TensorRef pairs(Tensor& y, int64_t dim) { return ops::add_Tensor(*before(y, dim), *after(y, dim), Scalar(1)); }

}  // namespace

TensorRef trapezoid_x(Tensor& y, Tensor& x, int64_t dim) {
  check_dim(y, "trapezoid");
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return zeros_without(y, dim);
  const TensorRef widths = steps("trapezoid", y, x, dim), areas = ops::mul_Tensor(*widths, *pairs(y, dim));
  return ops::mul_Scalar(*ops::sum_dim_IntList(*areas, IntList(&dim, 1), false, std::nullopt), Scalar(0.5));
}
TensorRef trapezoid_dx(Tensor& y, const Scalar& dx, int64_t dim) {
  check_dim(y, "trapezoid");
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return zeros_without(y, dim);
  check_step("trapezoid", y, dx);
  const TensorRef ends = ops::add_Tensor(*ops::select_int(y, dim, 0), *ops::select_int(y, dim, -1), Scalar(1));
  const TensorRef sum = ops::sum_dim_IntList(y, IntList(&dim, 1), false, std::nullopt);
  return ops::mul_Scalar(*ops::sub_Tensor(*sum, *ops::mul_Scalar(*ends, Scalar(0.5)), Scalar(1)), dx);
}
TensorRef trapz_x(Tensor& y, Tensor& x, int64_t dim) { return trapezoid_x(y, x, dim); }
TensorRef trapz_dx(Tensor& y, double dx, int64_t dim) { return trapezoid_dx(y, Scalar(dx), dim); }

TensorRef cumulative_trapezoid_x(Tensor& y, Tensor& x, int64_t dim) {
  check_dim(y, "cumulative_trapezoid");
  dim = wrap_dim(dim, y.dim());
  const TensorRef widths = steps("cumulative_trapezoid", y, x, dim);
  return ops::mul_Scalar(*ops::cumsum(*ops::mul_Tensor(*widths, *pairs(y, dim)), dim), Scalar(0.5));
}
TensorRef cumulative_trapezoid_dx(Tensor& y, const Scalar& dx, int64_t dim) {
  check_dim(y, "cumulative_trapezoid");
  dim = wrap_dim(dim, y.dim());
  check_step("cumulative_trapezoid", y, dx);
  return ops::mul_Scalar(*ops::cumsum(*pairs(y, dim), dim), Scalar(dx.to_double() / 2));
}

}  // namespace vivace::composite
