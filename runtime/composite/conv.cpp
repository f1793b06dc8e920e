// conv1d, conv2d, conv3d and the transposed ones: arguments are checked and completed, then one bilinear operator runs.
#include "generated/kernels/nn/conv.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/nn/conv.h"
#include "generated/ops/nn/pad.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/kernels/window.h"

namespace vivace::composite {
namespace {

/// One number per spatial dim, a single one standing for all.
Dims per_dim(const char* op, const char* name, IntList list, int64_t n) {
  if (int64_t(list.size()) == n) return list;
  if (list.size() != 1)
    fail(op, ": expected ", name, " to be a single integer value or a list of ", n,
         " values to match the convolution dimensions, but got ", name, "=", list);
  Dims dims;
  for (int64_t d = 0; d < n; ++d) dims.push(list[0]);
  return dims;
}

void check_dims(const char* op, const Tensor& input, const Tensor& weight, int64_t n) {
  if (input.dim() != n + 1 && input.dim() != n + 2)
    fail(op, ": Expected ", n + 1, "D (unbatched) or ", n + 2, "D (batched) input to ", op,
         ", but got input of size: ", input.sizes());
  if (weight.dim() != n + 2) fail(op, ": weight should have ", n + 2, " dimensions, but got shape ", weight.sizes());
  for (const int64_t size : weight.sizes().subspan(2))
    if (size == 0) fail(op, ": the kernel's sizes must not be zero, but got weight of size ", weight.sizes());
}

TensorRef run(const char* op, Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding,
              IntList dilation, int64_t groups, int64_t n) {
  check_dims(op, input, weight, n);
  const Dims s = per_dim(op, "stride", stride, n), p = per_dim(op, "padding", padding, n),
             d = per_dim(op, "dilation", dilation, n);
  if (input.dim() == n + 2) return ops::conv(input, weight, bias, s, p, d, groups);
  TensorRef one = ops::unsqueeze(input, 0), out = ops::conv(*one, weight, bias, s, p, d, groups);
  return ops::squeeze_dim(*out, 0);
}

TensorRef run_named(const char* op, Tensor& input, Tensor& weight, Tensor* bias, IntList stride,
                    std::string_view padding, IntList dilation, int64_t groups, int64_t n) {
  check_dims(op, input, weight, n);
  const Dims s = per_dim(op, "stride", stride, n), d = per_dim(op, "dilation", dilation, n);
  kernels::check_window(op, {d});
  Dims even;
  if (padding == "valid") {
    for (int64_t i = 0; i < n; ++i) even.push(0);
    return run(op, input, weight, bias, s, even, d, groups, n);
  }
  if (padding != "same") fail(op, ": Invalid padding string: '", padding, "'");
  bool is_even = true;
  Dims uneven;  // more on the right: as pad() takes it, last dim first
  for (int64_t i = 0; i < n; ++i) {
    if (s[int(i)] != 1) fail(op, ": padding='same' is not supported for strided convolutions");
    const int64_t total = d[int(i)] * (weight.sizes()[i + 2] - 1);
    even.push(total / 2);
    is_even = is_even && total % 2 == 0;
  }
  if (is_even) return run(op, input, weight, bias, s, even, d, groups, n);
  for (int64_t i = n - 1; i >= 0; --i) {
    uneven.push(0);
    uneven.push(d[int(i)] * (weight.sizes()[i + 2] - 1) % 2);
  }
  TensorRef padded = ops::constant_pad_nd(input, uneven, Scalar(0));
  return run(op, *padded, weight, bias, s, even, d, groups, n);
}

TensorRef run_transposed(const char* op, Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding,
                         IntList output_padding, int64_t groups, IntList dilation, int64_t n) {
  check_dims(op, input, weight, n);
  const Dims s = per_dim(op, "stride", stride, n), p = per_dim(op, "padding", padding, n),
             d = per_dim(op, "dilation", dilation, n), extra = per_dim(op, "output_padding", output_padding, n);
  if (groups <= 0) fail(op, ": non-positive groups is not supported");
  if (input.dtype() != weight.dtype())
    fail(op, ": Input type (", input.dtype(), ") and weight type (", weight.dtype(), ") should be the same");
  if (bias && bias->dtype() != input.dtype())
    fail(op, ": Input type (", input.dtype(), ") and bias type (", bias->dtype(), ") should be the same");
  if (bias && is_half(input.dtype())) {  // rounded once, after the bias
    TensorRef x = ops::to_dtype(input, DType::Float32), w = ops::to_dtype(weight, DType::Float32),
              b = ops::to_dtype(*bias, DType::Float32);
    TensorRef out = run_transposed(op, *x, *w, b.get(), stride, padding, output_padding, groups, dilation, n);
    return ops::to_dtype(*out, input.dtype());
  }
  const bool batched = input.dim() == n + 2;
  TensorRef x = batched ? TensorRef::share(&input) : ops::unsqueeze(input, 0);
  if (x->sizes()[1] != weight.sizes()[0] || weight.sizes()[0] % groups)
    fail(op, ": Given transposed=1, weight of size ", weight.sizes(), ", expected input", x->sizes(), " to have ",
         weight.sizes()[0], " channels, but got ", x->sizes()[1], " channels instead");
  const int64_t channels = weight.sizes()[1] * groups;
  if (bias && (bias->dim() != 1 || bias->sizes()[0] != channels))
    fail(op, ": Given transposed=1, weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ",
         channels, " elements, but got bias of size ", bias->sizes(), " instead");
  Dims sizes{x->sizes()[0], channels}, ones{1, channels};
  kernels::check_window(op, {s, p, d, extra});
  for (int64_t i = 0; i < n; ++i) {
    const int j = int(i);
    if (s[j] <= 0) fail(op, ": non-positive stride is not supported");
    if (p[j] < 0 || extra[j] < 0) fail(op, ": negative padding is not supported");
    if (extra[j] >= s[j] && extra[j] >= d[j])
      fail(op, ": output padding must be smaller than either stride or dilation, but got output_padding=", extra[j],
           ", stride=", s[j], ", dilation=", d[j]);
    sizes.push((x->sizes()[i + 2] - 1) * s[j] - 2 * p[j] + d[j] * (weight.sizes()[i + 2] - 1) + extra[j] + 1);
    ones.push(1);
    if (sizes[j + 2] < 0) fail(op, ": the output would have a negative size ", sizes[j + 2]);
  }
  TensorRef out = ops::conv_input_grad(*x, weight, sizes, s, p, d, groups);
  if (bias) {
    TensorRef shaped = ops::view(*bias, ones);
    out = ops::add_Tensor(*out, *shaped);
  }
  return batched ? out : ops::squeeze_dim(*out, 0);
}

}  // namespace

TensorRef conv1d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
                 int64_t groups) {
  return run("conv1d", input, weight, bias, stride, padding, dilation, groups, 1);
}
TensorRef conv1d_padding(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, std::string_view padding,
                         IntList dilation, int64_t groups) {
  return run_named("conv1d", input, weight, bias, stride, padding, dilation, groups, 1);
}
TensorRef conv_transpose1d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding,
                           IntList output_padding, int64_t groups, IntList dilation) {
  return run_transposed("conv_transpose1d", input, weight, bias, stride, padding, output_padding, groups, dilation, 1);
}

TensorRef conv2d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
                 int64_t groups) {
  return run("conv2d", input, weight, bias, stride, padding, dilation, groups, 2);
}
TensorRef conv2d_padding(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, std::string_view padding,
                         IntList dilation, int64_t groups) {
  return run_named("conv2d", input, weight, bias, stride, padding, dilation, groups, 2);
}
TensorRef conv_transpose2d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding,
                           IntList output_padding, int64_t groups, IntList dilation) {
  return run_transposed("conv_transpose2d", input, weight, bias, stride, padding, output_padding, groups, dilation, 2);
}

TensorRef conv3d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
                 int64_t groups) {
  return run("conv3d", input, weight, bias, stride, padding, dilation, groups, 3);
}
TensorRef conv3d_padding(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, std::string_view padding,
                         IntList dilation, int64_t groups) {
  return run_named("conv3d", input, weight, bias, stride, padding, dilation, groups, 3);
}
TensorRef conv_transpose3d(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding,
                           IntList output_padding, int64_t groups, IntList dilation) {
  return run_transposed("conv_transpose3d", input, weight, bias, stride, padding, output_padding, groups, dilation, 3);
}

}  // namespace vivace::composite
