// Products of vectors, matrices and batches of matrices: shape rules, and kernels over gemm.
#include "runtime/kernels/matmul.h"

#include "generated/kernels/linalg/products.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

void check_dim(const char* op, const char* name, const Tensor& t, int64_t dim) {
  if (t.dim() != dim) [[unlikely]]
    fail(op, ": ", name, " must be a ", dim, "-D tensor, but got ", t.dim(), "-D with shape ", t.sizes());
}

void check_dtypes(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) [[unlikely]]
    fail(op, ": expected both arguments to have the same dtype, but got: ", a.dtype(), " != ", b.dtype());
}

void check_inner(const char* op, const Tensor& a, const Tensor& b) {
  if (a.sizes()[1] != b.sizes()[0]) [[unlikely]]
    fail(op, ": mat1 and mat2 shapes cannot be multiplied (", a.sizes()[0], "x", a.sizes()[1], " and ", b.sizes()[0],
         "x", b.sizes()[1], ")");
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  check_dim(op, "batch1", a, 3);
  check_dim(op, "batch2", b, 3);
  check_dtypes(op, a, b);
  const IntList x = a.sizes(), y = b.sizes();
  if (x[0] != y[0] || x[2] != y[1]) [[unlikely]]
    fail(op, ": Expected size for first two dimensions of batch2 tensor to be: [", x[0], ", ", x[2], "] but got: [",
         y[0], ", ", y[1], "].");
}

enum class Factors { Integer, Truncated };  // what integers take: PyTorch's batched products truncate the factors

bool can_expand(IntList sizes, IntList result) {
  if (sizes.size() > result.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t n = sizes[sizes.size() - 1 - i];
    if (n != 1 && n != result[result.size() - 1 - i]) return false;
  }
  return true;
}

/// The added tensor of addmm and its kin: of the products' dtype, broadcastable to the result.
void check_added(const char* op, const Tensor& self, const Tensor& a, const Scalar& beta, const Scalar& alpha,
                 IntList result, Factors factors) {
  if (self.dtype() != a.dtype()) [[unlikely]]
    fail(op, ": self and mat1 must have the same dtype, but got ", self.dtype(), " and ", a.dtype());
  if (factors == Factors::Integer && !is_differentiable(self.dtype()) && !(beta.is_integral() && alpha.is_integral()))
      [[unlikely]]
    fail(op, ": for integral input tensors, arguments alpha and beta must not be floating point numbers");
  if (is_integral(self.dtype()))
    for (const Scalar& factor : {beta, alpha}) kernels::check_fits(factor, self.dtype());
  if (!can_expand(self.sizes(), result)) [[unlikely]]
    fail(op, ": The expanded size of the tensor ", result, " must match the existing size ", self.sizes(), " of self");
}

}  // namespace

// ---- shapes

namespace meta {

TensorRef mm(Tensor& self, Tensor& mat2) {
  check_dim("mm", "self", self, 2);
  check_dim("mm", "mat2", mat2, 2);
  check_dtypes("mm", self, mat2);
  check_inner("mm", self, mat2);
  return empty({self.sizes()[0], mat2.sizes()[1]}, self.dtype(), self.device());
}

TensorRef bmm(Tensor& self, Tensor& mat2) {
  check_batches("bmm", self, mat2);
  return empty({self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype(), self.device());
}

TensorRef mv(Tensor& self, Tensor& vec) {
  check_dim("mv", "self", self, 2);
  check_dim("mv", "vec", vec, 1);
  check_dtypes("mv", self, vec);
  if (self.sizes()[1] != vec.sizes()[0]) [[unlikely]]
    fail("mv: size mismatch, got input (", self.sizes()[0], "x", self.sizes()[1], ") and vec (", vec.sizes()[0], ")");
  return empty({self.sizes()[0]}, self.dtype(), self.device());
}

TensorRef dot(Tensor& self, Tensor& tensor) {
  if (self.dim() != 1 || tensor.dim() != 1) [[unlikely]]
    fail("dot: 1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(), "D tensors");
  if (self.dtype() != tensor.dtype()) [[unlikely]]
    fail("dot : expected both vectors to have same dtype, but found ", self.dtype(), " and ", tensor.dtype());
  if (self.numel() != tensor.numel()) [[unlikely]]
    fail("dot: inconsistent tensor size, expected tensor ", self.sizes(), " and src ", tensor.sizes(),
         " to have the same number of elements, but got ", self.numel(), " and ", tensor.numel(),
         " elements respectively");
  return empty(IntList(), self.dtype(), self.device());
}

TensorRef vdot(Tensor& self, Tensor& other) { return dot(self, other); }

TensorRef addmm(Tensor& self, Tensor& mat1, Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_dim("addmm", "mat1", mat1, 2);
  check_dim("addmm", "mat2", mat2, 2);
  check_dtypes("addmm", mat1, mat2);
  check_inner("addmm", mat1, mat2);
  const int64_t sizes[] = {mat1.sizes()[0], mat2.sizes()[1]};
  check_added("addmm", self, mat1, beta, alpha, sizes, Factors::Integer);
  return empty(sizes, mat1.dtype(), mat1.device());
}

TensorRef addmv(Tensor& self, Tensor& mat, Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  check_dim("addmv", "mat", mat, 2);
  check_dim("addmv", "vec", vec, 1);
  check_dtypes("addmv", mat, vec);
  if (mat.sizes()[1] != vec.sizes()[0]) [[unlikely]]
    fail("addmv: size mismatch, got mat (", mat.sizes()[0], "x", mat.sizes()[1], ") and vec (", vec.sizes()[0], ")");
  const int64_t sizes[] = {mat.sizes()[0]};
  check_added("addmv", self, mat, beta, alpha, sizes, Factors::Integer);
  return empty(sizes, mat.dtype(), mat.device());
}

TensorRef baddbmm(Tensor& self, Tensor& batch1, Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  check_batches("baddbmm", batch1, batch2);
  const int64_t sizes[] = {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  check_added("baddbmm", self, batch1, beta, alpha, sizes, Factors::Truncated);
  return empty(sizes, batch1.dtype(), batch1.device());
}

TensorRef addbmm(Tensor& self, Tensor& batch1, Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  check_batches("addbmm", batch1, batch2);
  const int64_t sizes[] = {batch1.sizes()[1], batch2.sizes()[2]};
  check_added("addbmm", self, batch1, beta, alpha, sizes, Factors::Truncated);
  return empty(sizes, batch1.dtype(), batch1.device());
}

TensorRef linear(Tensor& input, Tensor& weight, Tensor* bias) {
  if (weight.dim() != 2 && weight.dim() != 1) [[unlikely]]
    fail("linear: weight must be 1-D or 2-D, but got shape ", weight.sizes());
  const int64_t features = weight.sizes()[weight.dim() - 1], n = input.dim();
  if (n == 0 || input.sizes()[n - 1] != features) [[unlikely]] {
    if (n == 0) fail("linear: both arguments need to be at least 1D, but they are 0D and ", weight.dim(), "D");
    fail("linear: mat1 and mat2 shapes cannot be multiplied (",
         features == 0 || input.sizes()[n - 1] == 0 ? 0 : input.numel() / input.sizes()[n - 1], "x",
         input.sizes()[n - 1], " and ", features, "x", weight.dim() == 2 ? weight.sizes()[0] : 1, "): input is ",
         input.sizes(), ", weight is ", weight.sizes());
  }
  check_dtypes("linear", input, weight);
  if (bias && bias->dtype() != input.dtype()) [[unlikely]]
    fail("linear: bias has dtype ", bias->dtype(), ", but input has dtype ", input.dtype());
  Dims sizes(input.sizes().first(size_t(n - 1)));
  if (weight.dim() == 2) sizes.push(weight.sizes()[0]);
  if (bias && !can_expand(bias->sizes(), sizes)) [[unlikely]]
    fail("linear: The expanded size of the tensor ", IntList(sizes), " must match the existing size ", bias->sizes(),
         " of bias");
  return empty(sizes, input.dtype(), input.device());
}

}  // namespace meta

// ---- kernels

namespace kernels {

Matrix flat_matrix(const Tensor& t, TensorRef& keep) {
  const int64_t n = t.dim(), cols = t.sizes()[n - 1];
  if (n == 2) return matrix(t);
  keep = contiguous(t);
  return {keep->raw(), cols == 0 ? 0 : t.numel() / cols, cols, cols, 1};
}

void mm(Tensor& self, Tensor& mat2, Tensor& out) { gemm(out.dtype(), matrix(self), matrix(mat2), matrix(out)); }

/// One gemm a batch, with the batch's stride free.
static void batched(Tensor& a, Tensor& b, Tensor& out, const Scalar& beta, const Scalar& alpha) {
  const int64_t n = out.sizes()[0], work = std::max<int64_t>(1, out.sizes()[1] * out.sizes()[2] * a.sizes()[2]);
  if (n * work > kThreadWork && work > 4096) blas::table();  // loading needs the GIL, which a region may let go of
  parallel_for(0, n, std::max<int64_t>(1, kThreadWork / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      gemm(out.dtype(), matrix(a, i * a.strides()[0]), matrix(b, i * b.strides()[0]), matrix(out, i * out.strides()[0]),
           alpha, beta);
  });
}

void bmm(Tensor& self, Tensor& mat2, Tensor& out) { batched(self, mat2, out, Scalar(0), Scalar(1)); }

static Matrix column(const Tensor& vec) { return {vec.raw(), vec.sizes()[0], 1, vec.strides()[0], 1}; }

void mv(Tensor& self, Tensor& vec, Tensor& out) { gemm(out.dtype(), matrix(self), column(vec), column(out)); }

void dot(Tensor& self, Tensor& tensor, Tensor& out) {
  const int64_t n = self.numel(), s = n ? self.strides()[0] : 1, t = n ? tensor.strides()[0] : 1;
  if (self.dtype() == DType::Float32 && s == 1 && t == 1) {
    *out.data<float>() = dense::loops<float>().dot(self.data<float>(), tensor.data<float>(), n);
    return;
  }
  if (self.dtype() == DType::Float64 && s == 1 && t == 1) {
    *out.data<double>() = dense::loops<double>().dot(self.data<double>(), tensor.data<double>(), n);
    return;
  }
  if (is_half(self.dtype())) {
    constexpr int64_t kBlock = 512;
    float sum = 0, a[kBlock], b[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i), size = int64_t(sizeof(uint16_t));
      convert_run(DType::Float32, reinterpret_cast<char*>(a), sizeof(float), self.dtype(), self.raw() + i * s * size,
                  s * size, m);
      convert_run(DType::Float32, reinterpret_cast<char*>(b), sizeof(float), self.dtype(), tensor.raw() + i * t * size,
                  t * size, m);
      sum += dense::loops<float>().dot(a, b, m);
    }
    convert_block(out.dtype(), out.raw(), DType::Float32, reinterpret_cast<const char*>(&sum), 1);
    return;
  }
  const Matrix row{self.raw(), 1, n, 0, s}, col{tensor.raw(), n, 1, t, 1}, result{out.raw(), 1, 1, 1, 1};
  gemm(out.dtype(), row, col, result);
}

void vdot(Tensor& self, Tensor& other, Tensor& out) {
  if (!is_complex(self.dtype())) return dot(self, other, out);
  visit(self.dtype(), [&]<class T>() {
    if constexpr (is_complex_type<T>) {
      T sum{};
      const int64_t n = self.numel(), s = n ? self.strides()[0] : 1, t = n ? other.strides()[0] : 1;
      for (int64_t i = 0; i < n; ++i) {
        const T a = self.data<T>()[i * s];
        sum = add(sum, mul(T{a.re, -a.im}, other.data<T>()[i * t]));
      }
      *out.data<T>() = sum;
    }
  });
}

/// What beta multiplies goes into out first; gemm then adds to it.
static void put_added(Tensor& self, Tensor& out, const Scalar& beta) {
  if (!(beta == 0.0)) copy_into(out, self);
}

void addmm(Tensor& self, Tensor& mat1, Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  put_added(self, out, beta);
  gemm(out.dtype(), matrix(mat1), matrix(mat2), matrix(out), alpha, beta);
}

void addmv(Tensor& self, Tensor& mat, Tensor& vec, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  put_added(self, out, beta);
  gemm(out.dtype(), matrix(mat), column(vec), column(out), alpha, beta);
}

void baddbmm(Tensor& self, Tensor& batch1, Tensor& batch2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  put_added(self, out, beta);
  batched(batch1, batch2, out, beta, alpha);
}

void addbmm(Tensor& self, Tensor& batch1, Tensor& batch2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (beta == 0.0)
    fill_into(out, Scalar(0));
  else
    copy_into(out, self);
  const int64_t n = batch1.sizes()[0];
  if (n == 0)
    gemm(out.dtype(), {nullptr, out.sizes()[0], 0, 1, 1}, {nullptr, 0, out.sizes()[1], 1, 1}, matrix(out), alpha, beta);
  for (int64_t i = 0; i < n; ++i)
    gemm(out.dtype(), matrix(batch1, i * batch1.strides()[0]), matrix(batch2, i * batch2.strides()[0]), matrix(out),
         alpha, i == 0 ? beta : Scalar(1));
}

void linear(Tensor& input, Tensor& weight, Tensor* bias, Tensor& out) {
  const int64_t features = weight.dim() == 2 ? weight.sizes()[0] : 1, inner = weight.sizes()[weight.dim() - 1];
  TensorRef keep;
  Matrix x = input.dim() == 1 ? Matrix{input.raw(), 1, inner, 0, input.strides()[0]} : flat_matrix(input, keep);
  const int64_t rows = features ? out.numel() / features : 0;
  x.rows = rows;
  const Matrix w{weight.raw(), inner, features, weight.strides()[weight.dim() - 1],
                 weight.dim() == 2 ? weight.strides()[0] : 1};
  const Matrix y{out.raw(), rows, features, features, 1};
  if (!bias) return gemm(out.dtype(), x, w, y);
  if (bias->dim() == 1 && bias->sizes()[0] == features && bias->strides()[0] == 1)
    return gemm_bias(out.dtype(), x, w, y, bias->raw());
  copy_into(out, *bias);
  gemm(out.dtype(), x, w, y, Scalar(1), Scalar(1));
}

}  // namespace kernels
}  // namespace vivace
