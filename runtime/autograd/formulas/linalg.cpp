// Derivatives of the matmul family. Outside of a graph the products run at once, transposition being a flag of gemm;
// when a graph is being made, they are operators.
#include "generated/formulas/linalg/products.h"
#include "generated/formulas/pointwise/arith.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/var.h"
#include "runtime/autograd/node.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/matmul.h"

namespace vivace::formulas {
namespace {

/// Nobody but the CPU backend has a say in what happens to t.
bool is_plain(const Tensor& t) {
  return ((t.keys | tls.include) & ~tls.exclude & ~bit(Key::View) & ~bit(Key::Autograd)) == bit(Key::CPU);
}

/// Products may bypass the dispatcher.
bool runs_directly(const Tensor& a, const Tensor& b) {
  return may_fuse() && !is_complex(a.dtype()) && is_plain(a) && is_plain(b) && a.dtype() == b.dtype();
}

}  // namespace

/// a @ b.mH and a.mH @ b, for matrices and for batches of them.
TensorRef times_adjoint(Tensor& a, Tensor& b) {
  if (runs_directly(a, b)) {
    if (a.dim() == 2) {
      TensorRef out = empty({a.sizes()[0], b.sizes()[0]}, a.dtype());
      kernels::gemm(a.dtype(), kernels::matrix(a), kernels::matrix(b).transposed(), kernels::matrix(*out));
      return out;
    }
    const int64_t n = a.sizes()[0];
    TensorRef out = empty({n, a.sizes()[1], b.sizes()[1]}, a.dtype());
    for (int64_t i = 0; i < n; ++i)
      kernels::gemm(a.dtype(), kernels::matrix(a, i * a.strides()[0]),
                    kernels::matrix(b, i * b.strides()[0]).transposed(), kernels::matrix(*out, i * out->strides()[0]));
    return out;
  }
  TensorRef adjoint = ops::mH(b);
  return a.dim() == 2 ? ops::mm(a, *adjoint) : ops::bmm(a, *adjoint);
}

TensorRef adjoint_times(Tensor& a, Tensor& b) {
  if (runs_directly(a, b)) {
    if (a.dim() == 2) {
      TensorRef out = empty({a.sizes()[1], b.sizes()[1]}, a.dtype());
      kernels::gemm(a.dtype(), kernels::matrix(a).transposed(), kernels::matrix(b), kernels::matrix(*out));
      return out;
    }
    const int64_t n = a.sizes()[0];
    TensorRef out = empty({n, a.sizes()[2], b.sizes()[2]}, a.dtype());
    for (int64_t i = 0; i < n; ++i)
      kernels::gemm(a.dtype(), kernels::matrix(a, i * a.strides()[0]).transposed(),
                    kernels::matrix(b, i * b.strides()[0]), kernels::matrix(*out, i * out->strides()[0]));
    return out;
  }
  TensorRef adjoint = ops::mH(a);
  return a.dim() == 2 ? ops::mm(*adjoint, b) : ops::bmm(*adjoint, b);
}

namespace {
TensorRef conj(Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : TensorRef::share(&t); }
}  // namespace

// ---- mv, dot, vdot

TensorRef mv_self_backward(Tensor& g, Tensor& vec) {
  TensorRef column = ops::unsqueeze(g, 1), row = ops::unsqueeze(vec, 0), conjugate = conj(*row);
  return ops::mul_Tensor(*column, *conjugate);
}

TensorRef mv_vec_backward(Tensor& g, Tensor& self) {
  TensorRef adjoint = ops::mH(self);
  return ops::mv(*adjoint, g);
}

TensorRef times_conj(Tensor& g, Tensor& t) { return ops::mul_Tensor(g, *conj(t)); }
TensorRef conj_times(Tensor& g, Tensor& t) { return ops::mul_Tensor(*conj(g), t); }

// ---- products with an added tensor

TensorRef scaled_times_adjoint(Tensor& a, Tensor& b, const Scalar& alpha) {
  return scaled(*times_adjoint(a, b), alpha);
}
TensorRef scaled_adjoint_times(Tensor& a, Tensor& b, const Scalar& alpha) {
  return scaled(*adjoint_times(a, b), alpha);
}

TensorRef addmv_mat_backward(Tensor& g, Tensor& vec, const Scalar& alpha) {
  return scaled(*mv_self_backward(g, vec), alpha);
}
TensorRef addmv_vec_backward(Tensor& g, Tensor& mat, const Scalar& alpha) {
  return scaled(*mv_vec_backward(g, mat), alpha);
}

namespace {
/// The gradient of a sum over a batch, once for each of its matrices.
TensorRef for_each_of(Tensor& g, const Tensor& batch) {
  const int64_t sizes[] = {batch.sizes()[0], g.sizes()[0], g.sizes()[1]};
  return ops::expand(g, sizes, false);
}
}  // namespace

TensorRef addbmm_batch1_backward(Tensor& g, Tensor& batch2, const Scalar& alpha) {
  return scaled_times_adjoint(*for_each_of(g, batch2), batch2, alpha);
}
TensorRef addbmm_batch2_backward(Tensor& g, Tensor& batch1, const Scalar& alpha) {
  return scaled_adjoint_times(batch1, *for_each_of(g, batch1), alpha);
}

// ---- linear

namespace {

/// Sum over the rows of a matrix, for the bias.
TensorRef column_sums(const Tensor& g, int64_t rows, int64_t cols) {
  TensorRef out = empty({cols}, g.dtype());
  const auto sum = [&]<class T>(const T* p, T* sums) {
    for (int64_t j = 0; j < cols; ++j) sums[j] = 0;
    for (int64_t i = 0; i < rows; ++i) dense::loops<T>().accumulate(p + i * cols, sums, cols);
  };
  if (g.dtype() == DType::Float32)
    sum(g.data<float>(), out->data<float>());
  else
    sum(g.data<double>(), out->data<double>());
  return out;
}

}  // namespace

TensorRef linear_input_backward(Tensor& g, Tensor& weight) {
  if (weight.dim() == 1) return ops::mul_Tensor(*ops::unsqueeze(g, -1), *conj(weight));
  if (g.dim() < 2 || !runs_directly(g, weight)) return ops::matmul(g, *conj(weight));
  TensorRef keep;
  const kernels::Matrix flat = kernels::flat_matrix(g, keep);
  const int64_t columns = weight.sizes()[1];
  Dims sizes(g.sizes());
  sizes[sizes.n - 1] = columns;
  TensorRef x = empty(sizes, g.dtype());
  kernels::gemm(g.dtype(), flat, kernels::matrix(weight), {x->raw(), flat.rows, columns, columns, 1});
  return x;
}

TensorRef linear_weight_backward(Tensor& g, Tensor& input) {
  if (g.dim() < input.dim()) return ops::mul_Tensor(*ops::unsqueeze(g, -1), *conj(input));  // of a weight with one dim
  const int64_t outputs = g.sizes().back(), columns = input.sizes().back();
  if (g.dim() >= 2 && runs_directly(g, input)) {
    TensorRef keep_g, keep_x, w = empty({outputs, columns}, g.dtype());
    const kernels::Matrix flat = kernels::flat_matrix(g, keep_g);
    kernels::Matrix in = kernels::flat_matrix(input, keep_x);
    in.rows = flat.rows;
    kernels::gemm(g.dtype(), flat.transposed(), in, kernels::matrix(*w));
    return w;
  }
  const int64_t rows = count(input.sizes().first(size_t(input.dim() - 1)));
  const int64_t g_sizes[] = {rows, outputs}, x_sizes[] = {rows, columns};
  TensorRef flat_g = ops::reshape(g, g_sizes), flat_x = ops::reshape(input, x_sizes);
  return ops::mm(*ops::t(*flat_g), *conj(*flat_x));
}

TensorRef linear_bias_backward(Tensor& g) {
  if (g.dim() >= 2 && g.is_contiguous() && runs_directly(g, g) &&
      (g.dtype() == DType::Float32 || g.dtype() == DType::Float64)) {
    const int64_t columns = g.sizes().back();
    return column_sums(g, columns ? g.numel() / columns : 0, columns);
  }
  return TensorRef::share(&g);
}

}  // namespace vivace::formulas
