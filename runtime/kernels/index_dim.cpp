// Indexing along one dim by a vector: index_select, index_add, index_copy, index_fill; and by flat position: take, put.
#include <bit>
#include <cstring>

#include "generated/kernels/index/select.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/rows.h"
#include "runtime/loop/nest.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

void check_index(const char* op, const Tensor& index) {
  if (index.dim() > 1) fail_index(op, "(): Index is supposed to be a vector, but got dim: ", index.dim());
  if (index.dtype() != DType::Int64 && index.dtype() != DType::Int32)
    fail(op, "(): Expected dtype int32/int64 for index but got: ", index.dtype());
}

/// `check_count(n)` refuses n slices of the source if it has another number of indices.
template <class F>
void check_source(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  F&& check_count) {
  check_index(op, index);
  if (self.dtype() != source.dtype())
    fail(op, "(): self (", self.dtype(), ") and source (", source.dtype(), ") must have the same scalar type");
  const int64_t d = wrap_dim(dim, self.dim());
  if (source.dim() != self.dim() && source.dim() != 0 && self.dim() != 0)
    fail_index(
        op, "(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (",
        source.dim(), "), destination dimensionality (", self.dim(), ")");
  check_count(source.size(source.dim() ? d : 0));
  for (int64_t k = 0; k < std::min(self.dim(), source.dim()); ++k)
    if (k != d && self.dims_[k] != source.dims_[k])
      fail(op, "(): Source/destination tensor must have same slice shapes except at dimension ", d, ", got ",
           source.sizes(), " and ", self.sizes());
}

TensorRef as_index(const Tensor& index) { return contiguous(*to_dtype(index, DType::Int64)); }

/// Applies f(to, from, n) to the slices of `out` that the index names and those of `source`, in order.
template <class T, class F>
void for_slices(const char* op, Tensor& out, int64_t dim, const Tensor& index, const Tensor& source, F&& f) {
  const int64_t d = wrap_dim(dim, out.dim());
  const TensorRef at = as_index(index), from = contiguous(source);
  const TensorRef to = contiguous(out);  // out itself, or a copy that is written back
  const kernels::Slabs slabs(out.sizes(), d);
  const int64_t n = at->numel(), *indices = at->data<int64_t>();
  kernels::check_indices(indices, n, slabs.n, op);
  for (int64_t o = 0; o < slabs.outer; ++o) {
    T* slab = to->data<T>() + o * slabs.n * slabs.inner;
    const T* slice = from->data<T>() + o * n * slabs.inner;
    if (slabs.inner == 1)  // f is told so by a constant
      for (int64_t k = 0; k < n; ++k) f(slab + indices[k], slice + k, std::integral_constant<int64_t, 1>());
    else
      for (int64_t k = 0; k < n; ++k) f(slab + indices[k] * slabs.inner, slice + k * slabs.inner, slabs.inner);
  }
  if (to.get() != &out) copy_into(out, *to);
}

}  // namespace

namespace meta {

TensorRef index_select(Tensor& self, int64_t dim, Tensor& index) {
  check_index("index_select", index);
  const int64_t d = wrap_dim(dim, self.dim());
  Dims sizes(self.sizes());
  if (self.dim())
    sizes[int(d)] = index.numel();
  else if (index.numel() != 1)
    fail("index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  return empty(sizes, self.dtype(), self.device());
}
TensorRef index_add(Tensor& self, int64_t dim, Tensor& index, Tensor& source, const Scalar&) {
  if (self.dim() && source.dim() && self.dim() != source.dim())
    fail("index_add(): source tensor shape must match self tensor shape, excluding the specified dimension. Got ",
         "self.shape = ", self.sizes(), " source.shape = ", source.sizes());
  check_source("index_add_", self, dim, index, source, [&](int64_t n) {
    if (n != index.numel())
      fail("index_add_(): Number of indices (", index.numel(), ") should be equal to source.size(dim): (", n,
           "), for dim: ", dim);
  });
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef index_copy(Tensor& self, int64_t dim, Tensor& index, Tensor& source) {
  check_source("index_copy_", self, dim, index, source, [&](int64_t n) {
    if (n != index.numel())
      fail_index("index_copy_(): Number of indices (", index.numel(), ") should be equal to source.size(dim) (", n,
                 ")");
  });
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef index_fill_int_Scalar(Tensor& self, int64_t dim, Tensor& index, const Scalar&) {
  check_index("index_fill_", index);
  wrap_dim(dim, self.dim());
  return empty_like(self);
}
TensorRef index_fill_int_Tensor(Tensor& self, int64_t dim, Tensor& index, Tensor& value) {
  check_index("index_fill_", index);
  wrap_dim(dim, self.dim());
  if (value.dim() != 0)
    fail("index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  return empty_like(self);
}
TensorRef take(Tensor& self, Tensor& index) {
  if (index.dtype() != DType::Int64) fail("take(): Expected a long tensor for index, but got ", index.dtype());
  if (self.numel() == 0 && index.numel() != 0) fail_index("take(): tried to take from an empty tensor");
  return empty(index.sizes(), self.dtype(), self.device());
}
TensorRef put(Tensor& self, Tensor& index, Tensor& source, bool) {
  if (index.dtype() != DType::Int64) fail("put_(): Expected a long tensor for index, but got ", index.dtype());
  if (self.dtype() != source.dtype())
    fail("put_(): self and source expected to have the same dtype, but got self.dtype = ", self.dtype(),
         " and source.dtype = ", source.dtype());
  if (index.numel() != source.numel())
    fail_index("put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
               source.numel(), ", index.numel() = ", index.numel());
  if (self.numel() == 0 && index.numel() != 0) fail_index("put_(): Tried to put elements into an empty tensor");
  return empty_like(self);
}

}  // namespace meta

namespace kernels {
namespace {

/// to += alpha * from, over n elements.
template <class T>
class SliceSum {
 public:
  explicit SliceSum(const Scalar& alpha) {
    if constexpr (kIsComplex<T>)
      alpha_ = {alpha.to_double(), alpha.imag_part()};
    else if constexpr (std::is_same_v<T, bool>)
      alpha_ = alpha.to_bool();
    else if constexpr (std::is_integral_v<T>)
      alpha_ = convert<T>(alpha.to_int());
    else
      alpha_ = convert<Factor>(alpha.to_double());
  }

  template <class N>
  void operator()(T* to, const T* from, N n) const {
    if constexpr (kIsHalf<T>)
      if (n >= kBlock) return by_blocks(to, from, n);
    for (int64_t i = 0; i < n; ++i) to[i] = sum(to[i], from[i]);
  }

 private:
  using Factor = std::conditional_t<kIsComplex<T>, Complex<double>, ComputeType<T>>;
  static constexpr int64_t kBlock = 64;  // elements of a half type that are converted at a time

  T sum(T x, T y) const {
    if constexpr (kIsComplex<T>)
      return {typename T::value_type(x.re + alpha_.re * y.re - alpha_.im * y.im),
              typename T::value_type(x.im + alpha_.re * y.im + alpha_.im * y.re)};
    else if constexpr (std::is_same_v<T, bool>)
      return x || (y && alpha_);
    else
      return convert<T>(load(x) + alpha_ * load(y));
  }

  void by_blocks(T* to, const T* from, int64_t n) const {
    constexpr bool kIsHalfPrecision = std::is_same_v<T, Half>;
    const Convert widen = kIsHalfPrecision ? move_loops().from_half : move_loops().from_bfloat16,
                  narrow = kIsHalfPrecision ? move_loops().to_half : move_loops().to_bfloat16;
    float x[kBlock], y[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      widen(reinterpret_cast<char*>(x), reinterpret_cast<const char*>(to + i), m);
      widen(reinterpret_cast<char*>(y), reinterpret_cast<const char*>(from + i), m);
      for (int64_t k = 0; k < m; ++k) x[k] += alpha_ * y[k];
      narrow(reinterpret_cast<char*>(to + i), reinterpret_cast<const char*>(x), m);
    }
  }

  Factor alpha_;
};

}  // namespace

void index_select(Tensor& self, int64_t dim, Tensor& index, Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorRef at = as_index(index), from = contiguous(self);
  const kernels::Slabs slabs(self.sizes(), d);
  const int64_t n = at->numel(), *indices = at->data<int64_t>(), bytes = slabs.inner * int64_t(self.item_size());
  check_indices(indices, n, slabs.n, "index_select");
  // f(to, source, first index, last index) for the parts of slabs.
  const auto for_parts = [&](auto f) {
    parallel_for(0, slabs.outer * n, std::max<int64_t>(1, 65536 / bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t slab = i / n, first = i - slab * n, last = std::min(n, end - slab * n);
        f(out.raw() + (slab * n + first) * bytes, from->raw() + slab * slabs.n * bytes, indices + first, last - first);
        i = slab * n + last;
      }
    });
  };
  if (bytes > 8 || !std::has_single_bit(uint64_t(bytes)))
    return for_parts([bytes](char* to, const char* source, const int64_t* at, int64_t count) {
      for (int64_t k = 0; k < count; ++k) std::memcpy(to + k * bytes, source + at[k] * bytes, size_t(bytes));
    });
  const auto copy_elements = [&]<class T>() {
    for_parts([](char* to, const char* source, const int64_t* __restrict at, int64_t count) {
      T* __restrict target = reinterpret_cast<T*>(to);
      const T* __restrict element = reinterpret_cast<const T*>(source);
#pragma GCC unroll 4
      for (int64_t k = 0; k < count; ++k) target[k] = element[at[k]];
    });
  };
  switch (bytes) {
    case 1:
      return copy_elements.template operator()<uint8_t>();
    case 2:
      return copy_elements.template operator()<uint16_t>();
    case 4:
      return copy_elements.template operator()<uint32_t>();
    default:
      return copy_elements.template operator()<uint64_t>();
  }
}

void index_add(Tensor& self, int64_t dim, Tensor& index, Tensor& source, const Scalar& alpha, Tensor& out) {
  if (&out != &self) copy_into(out, self);
  visit(self.dtype(), [&]<class T>() {
    for_slices<T>("index_add", out, dim, index, source,
                  [add = SliceSum<T>(alpha)](T* to, const T* from, auto n) { add(to, from, n); });
  });
}
void index_copy(Tensor& self, int64_t dim, Tensor& index, Tensor& source, Tensor& out) {
  if (&out != &self) copy_into(out, self);
  visit_bits(self.dtype(), [&]<class T>() {
    for_slices<T>("index_copy", out, dim, index, source,
                  [](T* to, const T* from, int64_t n) { std::memcpy(to, from, size_t(n) * sizeof(T)); });
  });
}
void index_fill_int_Tensor(Tensor& self, int64_t dim, Tensor& index, Tensor& value, Tensor& out) {
  if (&out != &self) copy_into(out, self);
  Dims sizes(self.sizes());
  if (self.dim()) sizes[int(wrap_dim(dim, self.dim()))] = index.numel();
  const TensorRef source = vivace::empty(sizes, self.dtype());
  copy_into(*source, value);
  visit_bits(self.dtype(), [&]<class T>() {
    const int64_t size = self.size(dim);
    const TensorRef wrapped = clone_of(*as_index(index));
    for (int64_t k = 0; k < wrapped->numel(); ++k)
      wrapped->data<int64_t>()[k] = checked_index(wrapped->data<int64_t>()[k], size, true, "index_fill_");
    for_slices<T>("index_fill_", out, dim, *wrapped, *source,
                  [](T* to, const T* from, int64_t n) { std::memcpy(to, from, size_t(n) * sizeof(T)); });
  });
}
void index_fill_int_Scalar(Tensor& self, int64_t dim, Tensor& index, const Scalar& value, Tensor& out) {
  index_fill_int_Tensor(self, dim, index, *vivace::scalar_tensor(value, self.dtype()), out);
}

void take(Tensor& self, Tensor& index, Tensor& out) {
  const TensorRef from = contiguous(self), at = contiguous(index);
  const int64_t size = self.numel(), *indices = at->data<int64_t>();
  visit_bits(self.dtype(), [&]<class T>() {
    const T* p = from->data<T>();
    T* to = out.data<T>();
    const int64_t n = out.numel();
    if (move_loops().all_below(indices, n, size)) [[likely]]
      for (int64_t i = 0; i < n; ++i) to[i] = p[indices[i]];
    else
      for (int64_t i = 0; i < n; ++i) to[i] = p[checked_index(indices[i], size, true, "take")];
  });
}
void put(Tensor& self, Tensor& index, Tensor& source, bool accumulate, Tensor& out) {
  if (&out != &self) copy_into(out, self);
  const TensorRef at = contiguous(index), from = contiguous(source), to = contiguous(out);
  const int64_t size = self.numel(), *indices = at->data<int64_t>();
  visit(self.dtype(), [&]<class T>() {
    const T* p = from->data<T>();
    const SliceSum<T> add{Scalar(1)};
    for (int64_t i = 0; i < at->numel(); ++i) {
      T* x = to->data<T>() + checked_index(indices[i], size, true, "put_");
      if (accumulate)
        add(x, p + i, 1);
      else
        *x = p[i];
    }
  });
  if (to.get() != &out) copy_into(out, *to);
}

}  // namespace kernels
}  // namespace vivace
