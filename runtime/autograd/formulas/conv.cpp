// Derivatives of convolution, which are convolution's adjoints, and of these.
#include "generated/formulas/nn/conv.h"
#include "generated/ops/nn/conv.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/formulas/var.h"

namespace vivace::formulas {
namespace {

/// What multiplies a gradient.
TensorRef conj(Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : TensorRef::share(&t); }

/// The convolution as far as `sizes` go: output padding beyond the stride leaves room for windows that the transposed
/// convolution didn't have.
TensorRef conv_within(Tensor& input, Tensor& weight, IntList sizes, IntList stride, IntList padding, IntList dilation,
                      int64_t groups) {
  TensorRef y = ops::conv(input, weight, nullptr, stride, padding, dilation, groups);
  for (int64_t d = 2; d < int64_t(sizes.size()); ++d)
    if (y->sizes()[d] != sizes[d]) y = ops::narrow(*y, d, 0, sizes[d]);
  return y;
}

}  // namespace

std::tuple<TensorRef, TensorRef, TensorRef> conv_backward(Tensor& g, Tensor& input, Tensor& weight, IntList stride,
                                                          IntList padding, IntList dilation, int64_t groups,
                                                          Needs needs) {
  TensorRef x, w, b;
  if (wants(needs, 0)) x = ops::conv_input_grad(g, *conj(weight), input.sizes(), stride, padding, dilation, groups);
  if (wants(needs, 1)) w = ops::conv_weight_grad(g, *conj(input), weight.sizes(), stride, padding, dilation, groups);
  if (wants(needs, 2)) {
    Dims dims{0};
    for (int64_t d = 2; d < g.dim(); ++d) dims.push(d);
    b = ops::sum_dim_IntList(g, IntList(dims));
  }
  return {std::move(x), std::move(w), std::move(b)};
}

std::tuple<TensorRef, TensorRef> conv_input_grad_backward(Tensor& g, Tensor& grads, Tensor& weight, IntList stride,
                                                          IntList padding, IntList dilation, int64_t groups,
                                                          Needs needs) {
  TensorRef x, w;
  if (wants(needs, 0)) x = conv_within(g, *conj(weight), grads.sizes(), stride, padding, dilation, groups);
  if (wants(needs, 1)) w = ops::conv_weight_grad(*conj(grads), g, weight.sizes(), stride, padding, dilation, groups);
  return {std::move(x), std::move(w)};
}

std::tuple<TensorRef, TensorRef> conv_weight_grad_backward(Tensor& g, Tensor& grads, Tensor& input, IntList stride,
                                                           IntList padding, IntList dilation, int64_t groups,
                                                           Needs needs) {
  TensorRef y, x;
  if (wants(needs, 0)) y = conv_within(*conj(input), g, grads.sizes(), stride, padding, dilation, groups);
  if (wants(needs, 1)) x = ops::conv_input_grad(*conj(grads), g, input.sizes(), stride, padding, dilation, groups);
  return {std::move(y), std::move(x)};
}

}  // namespace vivace::formulas
