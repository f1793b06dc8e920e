// Covariances and correlations.
#include <algorithm>

#include "generated/kernels/reduce/covariance.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/composite/value.h"

namespace vivace::composite {
namespace {

bool holds(const TensorRef& truth) { return is_true(*truth); }

void check_weights(Tensor& weights, const char* name, int64_t observations) {
  if (weights.dim() > 1)
    fail("cov(): expected ", name, " to have one or fewer dimensions but got ", name, " with ", weights.dim(),
         " dimensions");
  if (weights.numel() != observations)
    fail("cov(): expected ", name, " to have the same numel as there are observations in the input but got ",
         weights.numel(), " != ", observations);
  if (holds(ops::any(*ops::lt_Scalar(weights, Scalar(0))))) fail("cov(): ", name, " cannot be negative");
}

/// The product of both kinds of weights; null without any.
TensorRef weights_of(Tensor* fweights, Tensor* aweights, int64_t observations) {
  if (fweights) {
    if (is_differentiable(fweights->dtype()) || is_bool(fweights->dtype()))
      fail("cov(): expected fweights to have integral dtype but got fweights with ", fweights->dtype(), " dtype");
    check_weights(*fweights, "fweights", observations);
  }
  if (!aweights) return TensorRef::share(fweights);
  if (is_complex(aweights->dtype()) || !is_differentiable(aweights->dtype()))
    fail("cov(): expected aweights to have floating point dtype but got aweights with ", aweights->dtype(), " dtype");
  check_weights(*aweights, "aweights", observations);
  return fweights ? ops::mul_Tensor(*fweights, *aweights) : TensorRef::share(aweights);
}

TensorRef total(Tensor& t) { return ops::sum(t, std::nullopt); }

}  // namespace

TensorRef cov(Tensor& self, int64_t correction, Tensor* fweights, Tensor* aweights) {
  if (self.dim() > 2)
    fail("cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
  if (is_bool(self.dtype())) fail("cov(): bool dtype is not supported for input");
  const int64_t row[] = {1, self.numel()}, last[] = {1};
  const TensorRef x = self.dim() < 2 ? ops::reshape(self, row) : TensorRef::share(&self);
  const int64_t observations = x->size(1);
  const TensorRef weights = weights_of(fweights, aweights, observations);
  // The mean, and what the squares are divided by: both are tensors where weights are.
  const auto weighted = [&](Tensor& t) { return weights ? ops::mul_Tensor(t, *weights) : TensorRef::share(&t); };
  TensorRef count = scalar_tensor(Scalar(double(observations)), default_dtype, self.device());
  if (weights) {
    count = total(*weights);
    if (observations > 0 && holds(ops::eq_Scalar(*count, Scalar(0))))
      fail("cov(): weights sum to zero, can't be normalized");
  }
  const TensorRef sums = ops::sum_dim_IntList(*weighted(*x), last, true, std::nullopt);
  const TensorRef centred = ops::sub_Tensor(*x, *ops::div_Tensor(*sums, *count), Scalar(1));
  TensorRef lost = scalar_tensor(Scalar(double(correction)), default_dtype, self.device());
  if (aweights && correction != 0)
    lost = ops::mul_Scalar(*ops::div_Tensor(*total(*ops::mul_Tensor(*weights, *aweights)), *count), Scalar(correction));
  TensorRef degrees = ops::sub_Tensor(*count, *lost, Scalar(1));
  if (holds(ops::le_Scalar(*degrees, Scalar(0)))) {
    warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
    degrees = scalar_tensor(Scalar(0.0), default_dtype, self.device());
  }
  const TensorRef products = ops::mm(*centred, *ops::to_dtype(*ops::mH(*weighted(*centred)), centred->dtype()));
  return ops::squeeze(*ops::div_Tensor(*products, *degrees));
}

TensorRef corrcoef(Tensor& self) {
  if (self.dim() > 2)
    fail("corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
         " dimensions");
  const TensorRef c = cov(self, 1, nullptr, nullptr);
  if (c->dim() == 0) return ops::div_Tensor(*c, *c);
  const TensorRef variances = ops::diagonal(*c, 0, 0, 1);
  const TensorRef deviations = ops::sqrt(is_complex(c->dtype()) ? *ops::real(*variances) : *variances);
  const TensorRef r =
      ops::div_Tensor(*ops::div_Tensor(*c, *ops::unsqueeze(*deviations, 1)), *ops::unsqueeze(*deviations, 0));
  const Scalar low(-1.0), high(1.0);
  if (!is_complex(r->dtype())) return ops::clamp(*r, &low, &high);
  return ops::complex(*ops::clamp(*ops::real(*r), &low, &high), *ops::clamp(*ops::imag(*r), &low, &high));
}

}  // namespace vivace::composite
