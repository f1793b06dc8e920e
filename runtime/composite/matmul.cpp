// matmul and what is made of it: the shape decides which product runs; batches broadcast.
#include "generated/kernels/linalg/products.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"

namespace vivace::composite {
namespace {

/// `t` seen as one matrix: all dims but the last are rows.
TensorRef fold(Tensor& t) {
  const int64_t shape[] = {-1, t.sizes()[t.dim() - 1]};
  if (t.sizes()[t.dim() - 1] != 0) return ops::reshape(t, shape);
  const int64_t exact[] = {count(t.sizes().first(size_t(t.dim() - 1))), 0};
  return ops::reshape(t, exact);
}

/// `t` expanded to the batch sizes and seen as one batch of matrices.
TensorRef expand_batch(Tensor& t, const Dims& batch) {
  Dims full = batch;
  full.push(t.sizes()[t.dim() - 2]);
  full.push(t.sizes()[t.dim() - 1]);
  const int64_t folded[] = {count(batch), full[full.n - 2], full[full.n - 1]};
  TensorRef wide = ops::expand(t, full, false);
  return ops::reshape(*wide, folded);
}

/// A product, which is contiguous but for those of vmap, as a tensor of these sizes.
TensorRef shaped(Tensor& product, IntList sizes) {
  return product.is_contiguous() ? ops::view(product, sizes) : ops::reshape(product, sizes);
}

}  // namespace

TensorRef matmul(Tensor& self, Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  if (a == 2 && b == 2) return ops::mm(self, other);
  if (a == 0 || b == 0)
    fail("matmul: both arguments to matmul need to be at least 1D, but they are ", a, "D and ", b, "D");
  if (self.dtype() != other.dtype())
    fail("matmul: expected both arguments to have the same dtype, but got: ", self.dtype(), " != ", other.dtype());
  if (a == 1 && b == 1) return ops::dot(self, other);
  if (a == 2 && b == 1) return ops::mv(self, other);
  if (a == 1 && b == 2) {
    TensorRef row = ops::unsqueeze(self, 0);
    TensorRef product = ops::mm(*row, other);
    return ops::squeeze_dim(*product, 0);
  }
  if (a >= 3 && b <= 2) {
    // A batch of matrices times one matrix is one product.
    TensorRef flat = fold(self);
    TensorRef product = b == 2 ? ops::mm(*flat, other) : ops::mv(*flat, other);
    Dims sizes(self.sizes().first(size_t(a - 1)));
    if (b == 2) sizes.push(other.sizes()[1]);
    return shaped(*product, sizes);
  }
  if (a == 3 && b == 3 && self.sizes()[0] == other.sizes()[0]) return ops::bmm(self, other);
  TensorRef left = a == 1 ? ops::unsqueeze(self, 0) : TensorRef::share(&self);
  const Dims batch = broadcast_sizes(left->sizes().first(size_t(left->dim() - 2)), other.sizes().first(size_t(b - 2)));
  TensorRef x = expand_batch(*left, batch), y = expand_batch(other, batch);
  TensorRef product = ops::bmm(*x, *y);
  Dims sizes = batch;
  if (a != 1) sizes.push(left->sizes()[left->dim() - 2]);
  sizes.push(other.sizes()[b - 1]);
  return shaped(*product, sizes);
}

}  // namespace vivace::composite
