// Reductions that are other reductions with other arguments.
#include <cmath>

#include "generated/kernels/reduce/extremes.h"
#include "generated/kernels/reduce/moments.h"
#include "generated/kernels/reduce/sums.h"
#include "generated/ops/linalg/norms.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/extremes.h"
#include "generated/ops/reduce/moments.h"
#include "generated/ops/reduce/sums.h"

namespace vivace::composite {
namespace {

using Dtype = std::optional<DType>;
using DimList = std::optional<IntList>;

Scalar correction_of(bool unbiased) { return Scalar(unbiased ? 1 : 0); }

/// The elements with NaN replaced by 0.

}  // namespace

TensorRef var_unbiased(Tensor& self, bool unbiased) { return var_dim(self, std::nullopt, unbiased, false); }
TensorRef var_dim(Tensor& self, DimList dim, bool unbiased, bool keepdim) {
  const Scalar correction = correction_of(unbiased);
  return ops::var_correction(self, dim, &correction, keepdim);
}
TensorRef std_unbiased(Tensor& self, bool unbiased) { return std_dim(self, std::nullopt, unbiased, false); }
TensorRef std_dim(Tensor& self, DimList dim, bool unbiased, bool keepdim) {
  const Scalar correction = correction_of(unbiased);
  return ops::std_correction(self, dim, &correction, keepdim);
}
std::tuple<TensorRef, TensorRef> var_mean_unbiased(Tensor& self, bool unbiased) {
  return var_mean_dim(self, std::nullopt, unbiased, false);
}
std::tuple<TensorRef, TensorRef> var_mean_dim(Tensor& self, DimList dim, bool unbiased, bool keepdim) {
  const Scalar correction = correction_of(unbiased);
  return ops::var_mean_correction(self, dim, &correction, keepdim);
}
std::tuple<TensorRef, TensorRef> std_mean_unbiased(Tensor& self, bool unbiased) {
  return std_mean_dim(self, std::nullopt, unbiased, false);
}
std::tuple<TensorRef, TensorRef> std_mean_dim(Tensor& self, DimList dim, bool unbiased, bool keepdim) {
  const Scalar correction = correction_of(unbiased);
  return ops::std_mean_correction(self, dim, &correction, keepdim);
}

TensorRef nanmean(Tensor& self, DimList dim, bool keepdim, Dtype dtype) {
  if (!is_differentiable(self.dtype()))
    fail("nanmean(): expected input to have floating point or complex dtype but got ", self.dtype());
  const TensorRef present = ops::logical_not(*ops::isnan(self));
  const TensorRef count = ops::sum_dim_IntList(*present, dim, keepdim, std::nullopt);
  const TensorRef total = is_complex(self.dtype()) ? ops::sum_dim_IntList(*ops::without_nan(self), dim, keepdim, dtype)
                                                   : ops::nansum(self, dim, keepdim, dtype);
  return ops::div_Tensor(*total, *count);
}

TensorRef vector_norm(Tensor& x, const Scalar& ord, DimList dim, bool keepdim, Dtype dtype) {
  return ops::linalg_vector_norm(x, ord, dim, keepdim, dtype);
}
TensorRef norm_Scalar(Tensor& self, const Scalar* p, DimList dim, bool keepdim, Dtype dtype) {
  return ops::linalg_vector_norm(self, p ? *p : Scalar(2), dim, keepdim, dtype);
}
TensorRef norm_str(Tensor& self, std::string_view p, DimList dim, bool keepdim, Dtype dtype) {
  if (p == "fro") {
    if (dim && dim->size() > 2) fail("norm: 'fro' expects one or two dims, got ", *dim);
    return ops::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
  }
  if (p != "nuc") fail("only valid string values are 'fro' and 'nuc', found ", p);
  return ops::matrix_norm_str_ord(self, p, dim.value_or(IntList(kInts<-2, -1>)), keepdim, dtype);
}

TensorRef max_other(Tensor& self, Tensor& other) { return ops::maximum(self, other); }
TensorRef min_other(Tensor& self, Tensor& other) { return ops::minimum(self, other); }

std::tuple<TensorRef, TensorRef> aminmax(Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (!dim && self.numel() == 0)
    fail("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  const int64_t d = dim.value_or(0);
  const IntList dims = dim ? IntList(&d, 1) : IntList();
  TensorRef least = ops::amin(self, dims, keepdim);
  return {std::move(least), ops::amax(self, dims, keepdim)};
}

}  // namespace vivace::composite
