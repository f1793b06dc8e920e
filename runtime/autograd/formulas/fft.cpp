// Derivatives of the Fourier transforms: their adjoints.
#include "generated/formulas/fft.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/fft.h"
#include "generated/ops/nn/pad.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/view/regroup.h"

namespace vivace::formulas {

TensorRef fft_c2c_backward(Tensor& g, IntList dim, double scale, bool forward) {
  return ops::_fft_c2c(g, dim, scale, !forward);
}

TensorRef fft_r2c_backward(Tensor& g, IntList self_sizes, IntList dim, double scale) {
  const int64_t last = dim.back(), missing = self_sizes[size_t(last)] - g.dims_[last];
  TensorRef whole = TensorRef::share(&g);
  if (missing > 0) {
    Dims pad;
    for (int64_t d = g.dim() - 1; d >= last; --d) {
      pad.push(0);
      pad.push(d == last ? missing : 0);
    }
    whole = ops::constant_pad_nd(g, pad, Scalar(0));
  }
  return ops::real(*ops::_fft_c2c(*whole, dim, scale, false));
}

TensorRef fft_c2r_backward(Tensor& g, IntList dim, double scale) {
  const TensorRef half = ops::_fft_r2c(g, dim, scale);
  // All but the ends of the half line stand for two elements of the whole.
  const int64_t last = dim.back(), kept = half->dims_[last], twice = g.dims_[last] - kept;
  if (twice <= 0) return half;
  Dims shape;
  for (int64_t d = 0; d < half->dim(); ++d) shape.push(d == last ? kept : 1);
  const TensorRef weights = empty(shape, g.dtype(), g.device());
  fill_into(*weights, 1);
  Dims inner(weights->sizes());
  inner[int(last)] = twice;
  fill_into(*make_view(*weights, inner, weights->strides(), 1), 2);
  return ops::mul_Tensor(*half, *weights);
}

}  // namespace vivace::formulas
