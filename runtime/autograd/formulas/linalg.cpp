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
  return !tls.grad_mode && !is_complex(a.dtype()) && is_plain(a) && is_plain(b) && a.dtype() == b.dtype();
}

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

/// t * conj(s), t itself for s = 1.
TensorRef scaled(TensorRef t, const Scalar& s) {
  if (s == 1.0) return t;
  return ops::mul_Scalar(*t, s.is_complex() ? Scalar(s.f, -s.imag) : s);
}

TensorRef conj(Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : TensorRef::share(&t); }

}  // namespace

// ---- mm, bmm, mv, dot

std::tuple<TensorRef, TensorRef> mm_backward(Tensor& g, Tensor& self, Tensor& mat2, Needs needs) {
  TensorRef a, b;
  if (wants(needs, 0)) a = times_adjoint(g, mat2);
  if (wants(needs, 1)) b = adjoint_times(self, g);
  return {std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef> mv_backward(Tensor& g, Tensor& self, Tensor& vec, Needs needs) {
  TensorRef a, b;
  if (wants(needs, 0)) {
    TensorRef column = ops::unsqueeze(g, 1), row = ops::unsqueeze(vec, 0), conjugate = conj(*row);
    a = ops::mul_Tensor(*column, *conjugate);
  }
  if (wants(needs, 1)) {
    TensorRef adjoint = ops::mH(self);
    b = ops::mv(*adjoint, g);
  }
  return {std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef> dot_backward(Tensor& g, Tensor& self, Tensor& tensor, Needs needs) {
  TensorRef a, b;
  if (wants(needs, 0)) a = ops::mul_Tensor(g, *conj(tensor));
  if (wants(needs, 1)) b = ops::mul_Tensor(g, *conj(self));
  return {std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef> vdot_backward(Tensor& g, Tensor& self, Tensor& other, Needs needs) {
  TensorRef a, b;
  if (wants(needs, 0)) a = ops::mul_Tensor(*conj(g), other);
  if (wants(needs, 1)) b = ops::mul_Tensor(g, self);
  return {std::move(a), std::move(b)};
}

// ---- products with an added tensor

std::tuple<TensorRef, TensorRef, TensorRef> addmm_backward(Tensor& g, Tensor& mat1, Tensor& mat2, const Scalar& beta,
                                                           const Scalar& alpha, Needs needs) {
  TensorRef s, a, b;
  if (wants(needs, 0)) s = scaled(TensorRef::share(&g), beta);
  if (wants(needs, 1)) a = scaled(times_adjoint(g, mat2), alpha);
  if (wants(needs, 2)) b = scaled(adjoint_times(mat1, g), alpha);
  return {std::move(s), std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef, TensorRef> addmv_backward(Tensor& g, Tensor& mat, Tensor& vec, const Scalar& beta,
                                                           const Scalar& alpha, Needs needs) {
  TensorRef s;
  if (wants(needs, 0)) s = scaled(TensorRef::share(&g), beta);
  auto [a, b] = mv_backward(g, mat, vec, needs >> 1);
  if (a) a = scaled(std::move(a), alpha);
  if (b) b = scaled(std::move(b), alpha);
  return {std::move(s), std::move(a), std::move(b)};
}

std::tuple<TensorRef, TensorRef, TensorRef> addbmm_backward(Tensor& g, Tensor& batch1, Tensor& batch2,
                                                            const Scalar& beta, const Scalar& alpha, Needs needs) {
  const int64_t sizes[] = {batch1.sizes()[0], g.sizes()[0], g.sizes()[1]};
  TensorRef wide = ops::expand(g, sizes, false);
  auto [s, a, b] = addmm_backward(*wide, batch1, batch2, beta, alpha, needs & ~Needs(1));
  if (wants(needs, 0)) s = scaled(TensorRef::share(&g), beta);
  return {std::move(s), std::move(a), std::move(b)};
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

std::tuple<TensorRef, TensorRef, TensorRef> linear_backward(Tensor& g, Tensor& input, Tensor& weight, Needs needs) {
  TensorRef x, w, b;
  const bool is_matrix = weight.dim() == 2 && input.dim() >= 2;
  if (is_matrix && runs_directly(input, weight) && is_plain(g)) {
    TensorRef keep_g, keep_x;
    const kernels::Matrix flat = kernels::flat_matrix(g, keep_g);
    if (wants(needs, 0)) {
      x = empty(input.sizes(), input.dtype());
      kernels::gemm(g.dtype(), flat, kernels::matrix(weight),
                    {x->raw(), flat.rows, weight.sizes()[1], weight.sizes()[1], 1});
    }
    if (wants(needs, 1)) {
      w = empty(weight.sizes(), weight.dtype());
      kernels::Matrix in = kernels::flat_matrix(input, keep_x);
      in.rows = flat.rows;
      kernels::gemm(g.dtype(), flat.transposed(), in, kernels::matrix(*w));
    }
    if (wants(needs, 2)) {
      const bool sums = (g.dtype() == DType::Float32 || g.dtype() == DType::Float64) && flat.col_stride == 1 &&
                        flat.row_stride == flat.cols;
      b = sums ? column_sums(g, flat.rows, flat.cols) : TensorRef::share(&g);
    }
    return {std::move(x), std::move(w), std::move(b)};
  }
  if (wants(needs, 2)) b = TensorRef::share(&g);
  if (weight.dim() == 1) {
    TensorRef column = ops::unsqueeze(g, -1);
    if (wants(needs, 0)) x = ops::mul_Tensor(*column, *conj(weight));
    if (wants(needs, 1)) w = ops::mul_Tensor(*column, *conj(input));
    return {std::move(x), std::move(w), std::move(b)};
  }
  if (wants(needs, 0)) x = ops::matmul(g, *conj(weight));
  if (wants(needs, 1)) {
    const int64_t rows = count(input.sizes().first(size_t(input.dim() - 1)));
    const int64_t g_sizes[] = {rows, weight.sizes()[0]}, x_sizes[] = {rows, weight.sizes()[1]};
    TensorRef flat_g = ops::reshape(g, g_sizes), flat_x = ops::reshape(input, x_sizes);
    TensorRef columns = ops::t(*flat_g), rows_conj = conj(*flat_x);
    w = ops::mm(*columns, *rows_conj);
  }
  return {std::move(x), std::move(w), std::move(b)};
}

}  // namespace vivace::formulas
