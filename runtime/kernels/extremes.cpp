// Largest and smallest elements and where they are. NaN wins, and the first of equals.
#include <cmath>

#include "generated/kernels/reduce/extremes.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/fold.h"
#include "runtime/kernels/reduce.h"

namespace vivace {
namespace {

uint64_t bit_of(const Tensor& self, int64_t dim) { return uint64_t(1) << wrap_dim(dim, self.dim()); }

void check_real(const Tensor& self, const char* op) {
  if (is_complex(self.dtype())) fail_not_implemented("\"", op, "\" not implemented for '", self.dtype(), "'");
}

void check_not_empty(const Tensor& self, uint64_t mask, const char* op) {
  for (int d = 0; d < self.ndim_; ++d)
    if ((mask >> d & 1) && self.dims_[d] == 0)
      fail_index(op, "(): Expected reduction dim ", d, " to have non-zero size.");
}

TensorRef reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  return empty(kernels::reduced_sizes(self, mask, keepdim), dtype, self.device());
}

TensorRef extremes(Tensor& self, IntList dim, bool keepdim, const char* op) {
  check_real(self, op);
  const uint64_t mask = dim_mask(dim, self.dim());
  if (dim.empty() && self.numel() == 0)
    fail(op,
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
         "argument.");
  check_not_empty(self, mask, op);
  return reduced(self, mask, keepdim, self.dtype());
}

TensorRef whole(Tensor& self, const char* op) {
  check_real(self, op);
  if (self.numel() == 0)
    fail(op,
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
         "argument.");
  return empty({}, self.dtype(), self.device());
}

std::tuple<TensorRef, TensorRef> with_index(Tensor& self, int64_t dim, bool keepdim, const char* op) {
  check_real(self, op);
  const uint64_t mask = bit_of(self, dim);
  check_not_empty(self, mask, op);
  return {reduced(self, mask, keepdim, self.dtype()), reduced(self, mask, keepdim, DType::Int64)};
}

TensorRef place(Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op) {
  check_real(self, op);
  const uint64_t mask = dim ? bit_of(self, *dim) : dim_mask(std::nullopt, self.dim());
  if (!dim && self.numel() == 0)
    fail_index(op,
               "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
               "'dim' argument.");
  check_not_empty(self, mask, op);
  return reduced(self, mask, keepdim, DType::Int64);
}

}  // namespace

namespace meta {

TensorRef amax(Tensor& self, IntList dim, bool keepdim) { return extremes(self, dim, keepdim, "amax"); }
TensorRef amin(Tensor& self, IntList dim, bool keepdim) { return extremes(self, dim, keepdim, "amin"); }
TensorRef max(Tensor& self) { return whole(self, "max"); }
TensorRef min(Tensor& self) { return whole(self, "min"); }
std::tuple<TensorRef, TensorRef> max_dim(Tensor& self, int64_t dim, bool keepdim) {
  return with_index(self, dim, keepdim, "max");
}
std::tuple<TensorRef, TensorRef> min_dim(Tensor& self, int64_t dim, bool keepdim) {
  return with_index(self, dim, keepdim, "min");
}
TensorRef argmax(Tensor& self, std::optional<int64_t> dim, bool keepdim) { return place(self, dim, keepdim, "argmax"); }
TensorRef argmin(Tensor& self, std::optional<int64_t> dim, bool keepdim) { return place(self, dim, keepdim, "argmin"); }

}  // namespace meta

namespace kernels {
namespace {

void fold_into(Fold kind, const Tensor& self, uint64_t mask, Tensor& out) {
  fold(kind, self, is_floating(self.dtype()) ? compute_of(self.dtype()) : fold_type(self.dtype()), out, mask);
}

const ReduceLoops& loops() {
  static const ReduceLoops& chosen = VIVACE_PICK(reduce_loops);
  return chosen;
}

template <class T>
int64_t first_extreme(const T* p, int64_t n, bool largest) {
  if constexpr (std::is_same_v<T, float>) {
    return (largest ? loops().f32.argmax : loops().f32.argmin)(p, n);
  } else if constexpr (std::is_same_v<T, double>) {
    return (largest ? loops().f64.argmax : loops().f64.argmin)(p, n);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    const int64_t best = (largest ? loops().max : loops().min).inner(p + 1, n - 1, p[0]);
    return std::find(p, p + n, best) - p;
  } else {
    int64_t at = 0;
    auto best = load(p[0]);
    for (int64_t i = 0; i < n; ++i) {
      const auto x = load(p[i]);
      if (x != x) return i;
      if (largest ? x > best : x < best) {
        best = x;
        at = i;
      }
    }
    return at;
  }
}

/// Indices (and values, unless null) along `dim`; the whole tensor is one line if dim is negative.
void index_into(const Tensor& self, int64_t dim, bool largest, Tensor* values, Tensor& indices) {
  if (indices.numel() == 0) return;
  // Lines have to lie in memory one after the other: dim goes last.
  TensorRef lines;
  int64_t length = self.numel();
  if (dim < 0 || self.dim() <= 1 || dim == self.dim() - 1) {
    if (dim >= 0 && self.dim() > 0) length = self.dims_[dim];
    lines = contiguous(self);
  } else {
    length = self.dims_[dim];
    Dims sizes, strides;
    for (int d = 0; d < self.ndim_; ++d) {
      if (d == dim) continue;
      sizes.push(self.dims_[d]);
      strides.push(self.dims_[self.ndim_ + d]);
    }
    sizes.push(length);
    strides.push(self.dims_[self.ndim_ + dim]);
    const TensorRef moved = vivace::alias(self);
    set_layout(*moved, sizes, strides, self.storage_offset());
    lines = contiguous(*moved);
  }
  visit(self.dtype(), [&]<class T>() {
    if constexpr (!kIsComplex<T>) {
      const T* from = lines->data<T>();
      int64_t* at = indices.data<int64_t>();
      T* to = values ? values->data<T>() : nullptr;
      parallel_for(0, indices.numel(), std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, length)),
                   [&](int64_t begin, int64_t end) {
                     std::unique_ptr<float[]> wide;
                     if constexpr (kIsHalf<T>) wide = scratch<float>(length);
                     for (int64_t i = begin; i < end; ++i) {
                       const T* line = from + i * length;
                       if constexpr (kIsHalf<T>) {
                         convert_block(DType::Float32, reinterpret_cast<char*>(wide.get()), self.dtype(),
                                       reinterpret_cast<const char*>(line), length);
                         at[i] = first_extreme(wide.get(), length, largest);
                       } else {
                         at[i] = first_extreme(line, length, largest);
                       }
                       if (to) to[i] = line[at[i]];
                     }
                   });
    }
  });
}

int64_t wrapped(const Tensor& self, std::optional<int64_t> dim) { return dim ? wrap_dim(*dim, self.dim()) : -1; }

}  // namespace

void amax(Tensor& self, IntList dim, bool, Tensor& out) { fold_into(Fold::Max, self, dim_mask(dim, self.dim()), out); }
void amin(Tensor& self, IntList dim, bool, Tensor& out) { fold_into(Fold::Min, self, dim_mask(dim, self.dim()), out); }
void max(Tensor& self, Tensor& out) { fold_into(Fold::Max, self, dim_mask(std::nullopt, self.dim()), out); }
void min(Tensor& self, Tensor& out) { fold_into(Fold::Min, self, dim_mask(std::nullopt, self.dim()), out); }
void max_dim(Tensor& self, int64_t dim, bool, Tensor& values, Tensor& indices) {
  index_into(self, wrap_dim(dim, self.dim()), true, &values, indices);
}
void min_dim(Tensor& self, int64_t dim, bool, Tensor& values, Tensor& indices) {
  index_into(self, wrap_dim(dim, self.dim()), false, &values, indices);
}
void argmax(Tensor& self, std::optional<int64_t> dim, bool, Tensor& out) {
  index_into(self, wrapped(self, dim), true, nullptr, out);
}
void argmin(Tensor& self, std::optional<int64_t> dim, bool, Tensor& out) {
  index_into(self, wrapped(self, dim), false, nullptr, out);
}

}  // namespace kernels
}  // namespace vivace
