// Derivatives of pools and padding that need more than one expression.
#include "generated/formulas/nn/pool.h"
#include "generated/formulas/nn/pad.h"
#include "generated/formulas/nn/sampling.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/nn/pad.h"
#include "generated/ops/nn/pool.h"
#include "generated/ops/nn/sampling.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/var.h"

namespace vivace::formulas {

TensorRef max_pool_backward_backward(Tensor& g, Tensor& indices) {
  const int64_t flat[] = {g.sizes()[0], g.sizes()[1], -1};
  TensorRef images = ops::reshape(g, flat), at = ops::reshape(indices, flat), picked = ops::gather(*images, 2, *at);
  return ops::reshape(*picked, indices.sizes());
}

std::tuple<TensorRef, TensorRef> grid_sampler_backward(Tensor& g, Tensor& input, Tensor& grid, int64_t mode,
                                                       int64_t padding, bool align, Needs needs) {
  auto [by_input, by_grid] = ops::grid_sampler_backward(g, input, grid, mode, padding, align);
  return {wants(needs, 0) ? std::move(by_input) : TensorRef(), wants(needs, 1) ? std::move(by_grid) : TensorRef()};
}

TensorRef adaptive_avg_pool_again(Tensor& g, IntList grads_sizes) {
  return ops::adaptive_avg_pool(g, grads_sizes.subspan(2));
}

TensorRef constant_pad_nd_backward(Tensor& g, IntList pad) {
  Dims negated;
  for (int64_t n : pad) negated.push(-n);
  return ops::constant_pad_nd(g, negated, Scalar(0));
}

}  // namespace vivace::formulas
