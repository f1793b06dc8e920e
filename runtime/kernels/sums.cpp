// Sums, means, products, norms: what `fold` computes with a scale and a root.
#include <cmath>

#include "generated/kernels/reduce/sums.h"
#include "runtime/kernels/fold.h"
#include "runtime/kernels/reduce.h"

namespace vivace {
namespace {

using Dtype = std::optional<DType>;
using DimList = std::optional<IntList>;

DType sum_dtype(const Tensor& self, Dtype dtype) {
  return dtype.value_or(is_differentiable(self.dtype()) ? self.dtype() : DType::Int64);
}
DType mean_dtype(const Tensor& self, Dtype dtype) {
  const DType t = dtype.value_or(self.dtype());
  if (!is_differentiable(t))
    fail("mean(): could not infer output dtype. ", dtype ? "Optional dtype" : "Input dtype",
         " must be either a floating point or complex dtype. Got: ", t);
  return t;
}
TensorRef reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  return empty(kernels::reduced_sizes(self, mask, keepdim), dtype, self.device());
}
uint64_t every_dim(const Tensor& self) { return dim_mask(std::nullopt, self.dim()); }

/// What elements are read as when the result is of type `to`.
DType compute_type(const Tensor& self, DType to) {
  if (is_complex(self.dtype()) && !is_complex(to)) return self.dtype();
  return kernels::fold_type(to);
}

}  // namespace

namespace meta {

TensorRef sum(Tensor& self, Dtype dtype) { return empty({}, sum_dtype(self, dtype), self.device()); }
TensorRef sum_dim_IntList(Tensor& self, DimList dim, bool keepdim, Dtype dtype) {
  return reduced(self, dim_mask(dim, self.dim()), keepdim, sum_dtype(self, dtype));
}
TensorRef nansum(Tensor& self, DimList dim, bool keepdim, Dtype dtype) {
  if (is_complex(self.dtype())) fail("nansum does not support complex inputs");
  return sum_dim_IntList(self, dim, keepdim, dtype);
}
TensorRef mean(Tensor& self, Dtype dtype) { return empty({}, mean_dtype(self, dtype), self.device()); }
TensorRef mean_dim(Tensor& self, DimList dim, bool keepdim, Dtype dtype) {
  return reduced(self, dim_mask(dim, self.dim()), keepdim, mean_dtype(self, dtype));
}
TensorRef prod(Tensor& self, Dtype dtype) { return empty({}, sum_dtype(self, dtype), self.device()); }
TensorRef prod_dim_int(Tensor& self, int64_t dim, bool keepdim, Dtype dtype) {
  return reduced(self, uint64_t(1) << wrap_dim(dim, self.dim()), keepdim, sum_dtype(self, dtype));
}

TensorRef linalg_vector_norm(Tensor& self, const Scalar& ord, DimList dim, bool keepdim, Dtype dtype) {
  if (!is_differentiable(self.dtype()))
    fail("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", self.dtype());
  if (ord.is_complex()) fail("linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  if (dtype && is_complex(*dtype) != is_complex(self.dtype()))
    fail("linalg.vector_norm: dtype should be ", is_complex(self.dtype()) ? "complex" : "real", " for ",
         is_complex(self.dtype()) ? "complex" : "real", " inputs, but got ", *dtype);
  if (dtype && item_size(real_of(*dtype)) < item_size(real_of(self.dtype())))
    fail("linalg.vector_norm: the dtype of the input (", self.dtype(),
         ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  const uint64_t mask = dim_mask(dim, self.dim());
  const double p = ord.to_double();
  if ((p < 0 || std::isinf(p)) && self.numel() == 0) {
    for (int d = 0; d < self.ndim_; ++d)
      if ((mask >> d & 1) && self.dims_[d] == 0)
        fail("linalg.vector_norm cannot compute the ", p,
             " norm on an empty tensor because the operation does not have an identity");
  }
  return reduced(self, mask, keepdim, real_of(dtype.value_or(self.dtype())));
}

}  // namespace meta

namespace kernels {
namespace {

void sum_into(Tensor& self, uint64_t mask, Tensor& out, Fold kind = Fold::Sum) {
  fold(kind, self, compute_type(self, out.dtype()), out, mask);
}
void mean_into(Tensor& self, uint64_t mask, Tensor& out) {
  Finish finish;
  const int64_t n = reduced_count(self, mask);
  finish.scale = n == 0 ? std::numeric_limits<double>::quiet_NaN() : 1 / double(n);
  fold(Fold::Sum, self, compute_type(self, out.dtype()), out, mask, finish);
}

/// Elementwise |x| of complex numbers, in the real type that the norm computes in.
TensorRef magnitudes(const Tensor& self) {
  TensorRef out = empty(self.sizes(), real_of(self.dtype()), self.device());
  const TensorRef in = contiguous(self);
  visit(out->dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const auto* from = in->data<Complex<T>>();
      T* to = out->data<T>();
      for (int64_t i = 0; i < in->numel(); ++i) to[i] = std::hypot(from[i].re, from[i].im);
    }
  });
  return out;
}

/// f of each element of a contiguous copy in floating type `compute`.
template <class F>
TensorRef mapped(const Tensor& self, DType compute, F&& f) {
  TensorRef out = empty(self.sizes(), compute, self.device());
  copy_into(*out, self);
  visit(compute, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T* p = out->data<T>();
      for (int64_t i = 0; i < out->numel(); ++i) p[i] = T(f(p[i]));
    }
  });
  return out;
}

}  // namespace

void sum(Tensor& self, Dtype, Tensor& out) { sum_into(self, every_dim(self), out); }
void sum_dim_IntList(Tensor& self, DimList dim, bool, Dtype, Tensor& out) {
  sum_into(self, dim_mask(dim, self.dim()), out);
}
void nansum(Tensor& self, DimList dim, bool, Dtype, Tensor& out) {
  // Integers hold no NaN, and what is read as integers has lost them.
  const bool has_nan = is_floating(self.dtype()) && is_floating(out.dtype());
  sum_into(self, dim_mask(dim, self.dim()), out, has_nan ? Fold::SumOfNumbers : Fold::Sum);
}
void mean(Tensor& self, Dtype, Tensor& out) { mean_into(self, every_dim(self), out); }
void mean_dim(Tensor& self, DimList dim, bool, Dtype, Tensor& out) { mean_into(self, dim_mask(dim, self.dim()), out); }
void prod(Tensor& self, Dtype, Tensor& out) {
  fold(Fold::Product, self, compute_type(self, out.dtype()), out, every_dim(self));
}
void prod_dim_int(Tensor& self, int64_t dim, bool, Dtype, Tensor& out) {
  fold(Fold::Product, self, compute_type(self, out.dtype()), out, uint64_t(1) << wrap_dim(dim, self.dim()));
}

void linalg_vector_norm(Tensor& self, const Scalar& ord, DimList dim, bool, Dtype, Tensor& out) {
  const uint64_t mask = dim_mask(dim, self.dim());
  const DType compute = compute_of(out.dtype());
  const TensorRef real = is_complex(self.dtype()) ? magnitudes(self) : TensorRef::share(&self);
  const double p = ord.to_double();
  if (p == 2) return fold(Fold::Squares, *real, compute, out, mask, {1, 2});
  if (p == 1) return fold(Fold::Magnitudes, *real, compute, out, mask);
  if (std::isinf(p)) return fold(p > 0 ? Fold::MaxMagnitude : Fold::MinMagnitude, *real, compute, out, mask);
  if (p == 0)
    return fold(Fold::Sum, *mapped(*real, compute, [](auto x) { return x != 0 ? 1 : 0; }), compute, out, mask);
  const TensorRef powers = mapped(*real, compute, [p](auto x) { return std::pow(std::fabs(x), decltype(x)(p)); });
  fold(Fold::Sum, *powers, compute, out, mask, {1, p});
}

}  // namespace kernels
}  // namespace vivace
