// The sums of gradients, by the runtime's own kernels unless a tensor is foreign.
#include "runtime/autograd/accumulate.h"

#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/arith.h"
#include "runtime/autograd/grad.h"
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/foreign.h"

namespace vivace {
namespace {

/// accumulate_grad where a tensor is foreign or a mode is on: in operators.
void accumulate_foreign_grad(Tensor& leaf, TensorRef grad, bool create_graph) {
  if (leaf.grad && !create_graph && !((leaf.keys | leaf.grad->keys | grad->keys) & kForeignKeys)) {
    ops::add__Tensor(*leaf.grad, *grad, 1);
    return;
  }
  if (leaf.grad) {
    grad = ops::add_Tensor(*leaf.grad, *grad, 1);
  } else if (!create_graph) {
    const bool ours = Py_REFCNT(grad.get()) == 1;
    if (same_layout(*grad, leaf) && leaf.is_non_overlapping_and_dense()) {
      grad = ours ? detached(*grad) : ops::clone(*grad, std::nullopt);
    } else {
      TensorRef copy = ops::new_empty_strided(leaf, leaf.sizes(), leaf.strides(), grad->dtype());
      ops::copy_(*copy, *grad);
      grad = std::move(copy);
    }
  }
  Tensor* old = std::exchange(leaf.grad, grad.release());
  track(leaf);
  Py_XDECREF(old);
}

}  // namespace

void add_to(TensorRef& sum, TensorRef more, bool create_graph) {
  if (!sum) {
    sum = std::move(more);
  } else if (foreign_tensors_exist && (is_foreign(sum->keys) || is_foreign(more->keys))) [[unlikely]] {
    sum = ops::add_Tensor(*sum, *more, 1);
  } else if (!create_graph && Py_REFCNT(sum.get()) == 1 && sum->storage_->refcount == 1 && !sum->base &&
             sum->dtype() == more->dtype() && sum->is_non_overlapping_and_dense()) {
    ops::add__Tensor(*sum, *more, 1);
  } else {
    sum = ops::add_Tensor(*sum, *more, 1);
  }
}

void accumulate_grad(Tensor& leaf, TensorRef grad, bool create_graph) {
  if (foreign_tensors_exist && is_foreign(leaf.keys | grad->keys)) [[unlikely]] {
    accumulate_foreign_grad(leaf, std::move(grad), create_graph);
  } else if (!leaf.grad) {
    const bool ours = Py_REFCNT(grad.get()) == 1 && grad->storage_->refcount == 1 && !grad->base;
    const bool fits = same_layout(*grad, leaf) && leaf.is_non_overlapping_and_dense();
    if (create_graph) {
      if (!ours || !fits) grad = ops::clone(*grad, std::nullopt);
    } else if (!ours || !fits) {
      TensorRef copy = empty_like(leaf, grad->dtype());
      copy_into(*copy, *grad);
      grad = std::move(copy);
    }
    leaf.grad = grad.release();
    track(leaf);
  } else if (create_graph) {
    Tensor* sum = ops::add_Tensor(*leaf.grad, *grad, 1).release();
    Tensor* old = std::exchange(leaf.grad, sum);
    Py_DECREF(old);
  } else {
    ops::add__Tensor(*leaf.grad, *grad, 1);
  }
}

}  // namespace vivace
