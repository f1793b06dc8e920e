// Gradients of the normalisations, and checks that they share.
#pragma once
#include <tuple>

#include "runtime/autograd/node.h"

namespace vivace::kernels {

/// Throws unless `shape` equals the last sizes of input.
void check_normalized_shape(const char* op, const Tensor& input, IntList shape);

/// Gradients of input, weight and bias; those that `needs` (bits 0, 1, 2) doesn't ask for are null.
std::tuple<TensorRef, TensorRef, TensorRef> layer_norm_grad(Tensor& g, Tensor& input, IntList normalized_shape,
                                                            Tensor* weight, double eps, Needs needs);
/// With statistics of the batch: the whole gradient; with running ones (mean and var not null): that of an affine map.
std::tuple<TensorRef, TensorRef, TensorRef> batch_norm_grad(Tensor& g, Tensor& input, Tensor* weight, Tensor* mean,
                                                            Tensor* var, double eps, Needs needs);
std::tuple<TensorRef, TensorRef, TensorRef> group_norm_grad(Tensor& g, Tensor& input, int64_t groups, Tensor* weight,
                                                            double eps, Needs needs);

}  // namespace vivace::kernels
