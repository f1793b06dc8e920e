// Derivatives of running sums, products and extremes.
#include <limits>

#include "generated/formulas/scan/cumulative.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/join.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/scan/cumulative.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/formulas/zeros.h"
#include "runtime/composite/value.h"

namespace vivace::formulas {

/// The running sum from the other end.
TensorRef cumsum_backward(Tensor& g, int64_t dim) {
  if (g.numel() <= 1) return TensorRef::share(&g);
  const Dims flip{wrap_dim(dim, g.dim())};
  return ops::flip(*ops::cumsum(*ops::flip(g, flip), dim, std::nullopt), flip);
}

TensorRef cumprod_backward(Tensor& g, Tensor& self, Tensor& y, int64_t dim) {
  if (self.numel() <= 1) return TensorRef::share(&g);
  const bool complex = is_complex(self.dtype());
  const TensorRef x = complex ? ops::conj(self) : TensorRef::share(&self),
                  products = complex ? ops::conj(y) : TensorRef::share(&y);
  const int64_t d = wrap_dim(dim, self.dim()), n = self.dims_[d];
  // Without zeros: y / x summed from the end. With zeros, place by place: the products with one factor left out.
  const TensorRef has_zero = ops::any(*ops::eq_Scalar(self, Scalar(0)));
  if (has_values(*has_zero) && !is_true(*has_zero))
    return ops::div_Tensor(*cumsum_backward(*ops::mul_Tensor(*products, g), d), *x);
  std::vector<TensorRef> parts;
  std::vector<Tensor*> pointers;
  for (int64_t k = 0; k < n; ++k) {
    TensorRef rest = k + 1 < n ? ops::cumprod(*ops::narrow(*x, d, k + 1, n - k - 1), d, std::nullopt) : TensorRef();
    const TensorRef one = ops::ones_like(*ops::narrow(*x, d, 0, 1), std::nullopt, std::nullopt, std::nullopt);
    Tensor* both[] = {one.get(), rest.get()};
    TensorRef without = rest ? ops::cat(TensorList(both, 2), d) : one;
    if (k > 0)
      without = ops::mul_Tensor(*without, *ops::prod_dim_int(*ops::narrow(*x, d, 0, k), d, true, std::nullopt));
    const TensorRef part = ops::mul_Tensor(*ops::narrow(g, d, k, n - k), *without);
    parts.push_back(ops::sum_dim_IntList(*part, IntList(&d, 1), true, std::nullopt));
    pointers.push_back(parts.back().get());
  }
  return ops::cat(pointers, d);
}

TensorRef logcumsumexp_backward(Tensor& g, Tensor& self, Tensor& y, int64_t dim) {
  if (g.dim() == 0 || g.numel() == 0) return TensorRef::share(&g);
  if (is_complex(self.dtype())) {
    const Dims flip{wrap_dim(dim, g.dim())};
    const TensorRef logs = ops::sub_Tensor(*ops::log(g), *ops::conj(y), Scalar(1));
    const TensorRef sums = ops::flip(*ops::logcumsumexp(*ops::flip(*logs, flip), dim), flip);
    return ops::exp(*ops::add_Tensor(*sums, *ops::conj(self), Scalar(1)));
  }
  // sum_j>=i g_j exp(x_i - y_j), positive and negative g apart, in logarithms.
  const Dims flip{wrap_dim(dim, g.dim())};
  const double least = real_of(g.dtype()) == DType::Float64 ? -0x1.fp1023 : is_half(g.dtype()) ? -6e4 : -0x1.fep127;
  const auto part = [&](Tensor& gradient) {
    const TensorRef none = ops::le_Scalar(gradient, Scalar(0));  // log(0) would make second derivatives NaN
    const TensorRef magnitude = ops::log(*ops::masked_fill_Scalar(gradient, *none, Scalar(1)));
    const TensorRef logs = ops::sub_Tensor(*ops::masked_fill_Scalar(*magnitude, *none, Scalar(least)), y, Scalar(1));
    const TensorRef sums = ops::flip(*ops::logcumsumexp(*ops::flip(*logs, flip), dim), flip);
    return ops::exp(*ops::add_Tensor(*sums, self, Scalar(1)));
  };
  const TensorRef up = part(g), down = part(*ops::neg(g));
  return ops::sub_Tensor(*up, *down, Scalar(1));
}

TensorRef cummax_backward(Tensor& g, Tensor& indices, int64_t dim) {
  if (g.numel() == 0 || g.dim() == 0) return TensorRef::share(&g);
  return scattered(g, g.sizes(), dim, indices);
}

}  // namespace vivace::formulas
