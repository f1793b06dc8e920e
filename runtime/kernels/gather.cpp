// gather and the scatter family: one loop over the positions of `index`, in order and on one thread where positions may
// repeat, so that results are the same each time.
#include "runtime/kernels/gather.h"

#include <cmath>

#include "generated/kernels/index/gather.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/read_scalar.h"
#include "runtime/loop/nest.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

int64_t ndim_of(const Tensor& t) { return std::max<int64_t>(t.dim(), 1); }

/// index fits into `self` in all dims but `dim`, and into `src` (if given) in all dims.
void check_shapes(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  if (index.numel() > 0 && index.dtype() != DType::Int64 && index.dtype() != DType::Int32)
    fail(op, "(): Expected dtype int32/int64 for index, but got ", index.dtype());
  if (src && src->dtype() != self.dtype()) fail(op, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  if (ndim_of(index) != ndim_of(self))
    fail("Index tensor must have the same number of dimensions as ", src ? "self" : "input", " tensor");
  if (src && ndim_of(*src) != ndim_of(index))
    fail("Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (d != dim && self.dim() && index.dims_[d] > self.dims_[d]) {
      if (!src)
        fail("Size does not match at dimension ", d, " expected index ", index.sizes(), " to be no larger than self ",
             self.sizes(), " apart from dimension ", dim);
      fail("Expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ", dim,
           " and to be no larger than src ", src->sizes());
    }
    if (src && src->dim() && index.dims_[d] > src->dims_[d])
      fail("Expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ", dim,
           " and to be no larger than src ", src->sizes());
  }
}

/// PyTorch raises a RuntimeError here, where the index_* family raises an IndexError.
int64_t checked(const char* op, int64_t index, int64_t size) {
  if (uint64_t(index) >= uint64_t(size)) [[unlikely]]
    fail(op, "(): index ", index, " is out of bounds for dimension with size ", size);
  return index;
}

/// Throws unless all n indices fit.
void check_run(const char* op, const int64_t* index, int64_t n, int64_t size) {
  if (move_loops().all_below(index, n, size)) [[likely]]
    return;
  for (int64_t i = 0; i < n; ++i) checked(op, index[i], size);
}

/// f(element of self, element of other) along a run of `positions`; `step`: bytes between self's elements along dim.
template <class T, class F>
void along_run(const char* op, char* const* p, int64_t n, const int64_t* s, int64_t size, int64_t step, F&& f) {
  if (s[1] == int64_t(sizeof(int64_t)) && s[2] == int64_t(sizeof(T))) {
    const int64_t *index = reinterpret_cast<const int64_t*>(p[1]), beside = s[0];
    T* other = reinterpret_cast<T*>(p[2]);
    check_run(op, index, n, size);
    char* self = p[0];
    if (beside == 0 && step == int64_t(sizeof(T))) {
      for (int64_t i = 0; i < n; ++i) f(reinterpret_cast<T*>(self)[index[i]], other[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) f(*reinterpret_cast<T*>(self + i * beside + index[i] * step), other[i]);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = checked(op, *reinterpret_cast<const int64_t*>(p[1] + i * s[1]), size);
    f(*reinterpret_cast<T*>(p[0] + i * s[0] + at * step), *reinterpret_cast<T*>(p[2] + i * s[2]));
  }
}

/// Positions of `index`: operands are self (standing still along dim), index, and `other`, which has at least index's
/// sizes.
Nest<3> positions(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& other) {
  Nest<3> nest;
  nest.base[0] = self.raw();
  nest.base[1] = index.raw();
  nest.base[2] = other.raw();
  const auto stride = [](const Tensor& t, int d) {
    return t.ndim_ == 0 ? 0 : t.dims_[t.ndim_ + d] * int64_t(t.item_size());
  };
  for (int d = index.ndim_ - 1; d >= 0; --d)
    nest.push(index.dims_[d], {d == dim ? 0 : stride(self, d), stride(index, d), stride(other, d)});
  return nest;
}

}  // namespace

namespace meta {

TensorRef gather(Tensor& self, int64_t dim, Tensor& index, bool) {
  check_shapes("gather", self, wrap_dim(dim, self.dim()), index, nullptr);
  return empty(index.sizes(), self.dtype(), self.device());
}

TensorRef scatter_src(Tensor& self, int64_t dim, Tensor& index, Tensor& src) {
  check_shapes("scatter", self, wrap_dim(dim, self.dim()), index, &src);
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef scatter_value(Tensor& self, int64_t dim, Tensor& index, const Scalar&) {
  check_shapes("scatter", self, wrap_dim(dim, self.dim()), index, nullptr);
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef scatter_reduce(Tensor& self, int64_t dim, Tensor& index, Tensor& src, std::string_view reduce) {
  if (reduce != "add" && reduce != "multiply") fail("reduce argument must be either add or multiply.");
  return scatter_src(self, dim, index, src);
}
TensorRef scatter_value_reduce(Tensor& self, int64_t dim, Tensor& index, const Scalar& value, std::string_view reduce) {
  if (reduce != "add" && reduce != "multiply") fail("reduce argument must be either add or multiply.");
  return scatter_value(self, dim, index, value);
}
TensorRef scatter_add(Tensor& self, int64_t dim, Tensor& index, Tensor& src) {
  check_shapes("scatter_add", self, wrap_dim(dim, self.dim()), index, &src);
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef scatter_reduce_two(Tensor& self, int64_t dim, Tensor& index, Tensor& src, std::string_view reduce, bool) {
  if (reduce != "sum" && reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
    fail("reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  check_shapes("scatter_reduce", self, wrap_dim(dim, self.dim()), index, &src);
  return empty(self.sizes(), self.dtype(), self.device());
}

}  // namespace meta

namespace kernels {
namespace {

/// Calls f(element of self, element of other) for each position.
template <class T, class F>
void for_positions(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& other, F&& f) {
  const TensorRef index64 = vivace::to_dtype(index, DType::Int64);
  const Nest<3> nest = positions(self, dim, *index64, other);
  const int64_t size = self.size(dim), step = self.dim() ? self.dims_[self.ndim_ + dim] * int64_t(sizeof(T)) : 0;
  nest.run([&](char** p, int64_t n, const int64_t* s) { along_run<T>(op, p, n, s, size, step, f); });
}

enum class Reduce : uint8_t { Set, Sum, Product, Max, Min };

template <Reduce kReduce, class T>
void apply(T& to, T from) {
  if constexpr (kReduce == Reduce::Set)
    to = from;
  else if constexpr (kIsComplex<T>) {
    if constexpr (kReduce == Reduce::Sum)
      to = {to.re + from.re, to.im + from.im};
    else if constexpr (kReduce == Reduce::Product)
      to = {to.re * from.re - to.im * from.im, to.re * from.im + to.im * from.re};
  } else {
    const auto a = load(to), b = load(from);
    if constexpr (kReduce == Reduce::Sum)
      to = convert<T>(add(a, b));
    else if constexpr (kReduce == Reduce::Product)
      to = convert<T>(mul(a, b));
    else if constexpr (kReduce == Reduce::Max)
      to = a > b || a != a ? to : from;
    else
      to = a < b || a != a ? to : from;
  }
}

template <Reduce kReduce>
void scatter_with(const char* op, Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  if (index.numel() == 0) return;
  visit(out.dtype(), [&]<class T>() {
    for_positions<T>(op, out, dim, index, src, [](T& to, const T& from) { apply<kReduce>(to, from); });
  });
}

void scatter_by(const char* op, std::string_view reduce, Tensor& out, int64_t dim, const Tensor& index,
                const Tensor& src) {
  if (reduce == "add" || reduce == "sum" || reduce == "mean")
    scatter_with<Reduce::Sum>(op, out, dim, index, src);
  else if (reduce == "multiply" || reduce == "prod")
    scatter_with<Reduce::Product>(op, out, dim, index, src);
  else if (reduce == "amax")
    scatter_with<Reduce::Max>(op, out, dim, index, src);
  else
    scatter_with<Reduce::Min>(op, out, dim, index, src);
}

/// `value` as a tensor that stands for every position.
TensorRef spread(const Scalar& value, const Tensor& self, const Tensor& index) {
  const TensorRef one = vivace::scalar_tensor(value, self.dtype());
  Dims strides;
  for (int64_t d = 0; d < index.dim(); ++d) strides.push(0);
  set_layout(*one, index.sizes(), strides, 0);
  return one;
}

void start_from(const Tensor& self, Tensor& out) {
  if (&out != &self) copy_into(out, self);
}

}  // namespace

void gather(Tensor& self, int64_t dim, Tensor& index, bool, Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorRef index64 = vivace::to_dtype(index, DType::Int64);
  const int64_t size = self.size(d);
  visit_bits(self.dtype(), [&]<class T>() {
    const Nest<3> nest = positions(self, d, *index64, out);
    const int64_t step = self.dim() ? self.dims_[self.ndim_ + d] * int64_t(sizeof(T)) : 0;
    nest.run([&](char** p, int64_t n, const int64_t* s) {
      along_run<T>("gather", p, n, s, size, step, [](const T& from, T& to) { to = from; });
    });
  });
}

void scatter_src(Tensor& self, int64_t dim, Tensor& index, Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_with<Reduce::Set>("scatter", out, wrap_dim(dim, self.dim()), index, src);
}
void scatter_value(Tensor& self, int64_t dim, Tensor& index, const Scalar& value, Tensor& out) {
  start_from(self, out);
  scatter_with<Reduce::Set>("scatter", out, wrap_dim(dim, self.dim()), index, *spread(value, self, index));
}
void scatter_reduce(Tensor& self, int64_t dim, Tensor& index, Tensor& src, std::string_view reduce, Tensor& out) {
  start_from(self, out);
  scatter_by("scatter", reduce, out, wrap_dim(dim, self.dim()), index, src);
}
void scatter_value_reduce(Tensor& self, int64_t dim, Tensor& index, const Scalar& value, std::string_view reduce,
                          Tensor& out) {
  start_from(self, out);
  scatter_by("scatter", reduce, out, wrap_dim(dim, self.dim()), index, *spread(value, self, index));
}
void scatter_add(Tensor& self, int64_t dim, Tensor& index, Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_with<Reduce::Sum>("scatter_add", out, wrap_dim(dim, self.dim()), index, src);
}

void scatter_reduce_two(Tensor& self, int64_t dim, Tensor& index, Tensor& src, std::string_view reduce,
                        bool include_self, Tensor& out) {
  start_from(self, out);
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() == 0) return;
  if (!include_self) {
    // What is hit starts from the neutral element.
    visit(out.dtype(), [&]<class T>() {
      double start = reduce == "prod" ? 1 : 0;
      if (reduce == "amax") start = -std::numeric_limits<double>::infinity();
      if (reduce == "amin") start = std::numeric_limits<double>::infinity();
      T neutral;
      if constexpr (std::is_integral_v<T>)
        neutral = reduce == "amax"   ? std::numeric_limits<T>::min()
                  : reduce == "amin" ? std::numeric_limits<T>::max()
                                     : T(start);
      else
        neutral = convert<T>(start);
      for_positions<T>("scatter_reduce", out, d, index, src, [neutral](T& to, const T&) { to = neutral; });
    });
  }
  scatter_by("scatter_reduce", reduce, out, d, index, src);
  if (reduce != "mean") return;
  const TensorRef counts = vivace::empty(out.sizes(), DType::Float64);
  fill_into(*counts, include_self ? 1 : 0);
  scatter_with<Reduce::Sum>("scatter_reduce", *counts, d, index, *spread(1.0, *counts, index));
  const Nest<2> nest = make_nest<2>(out.sizes(), {&out, counts.get()});
  visit(out.dtype(), [&]<class T>() {
    nest.run([](char** p, int64_t n, const int64_t* s) {
      for (int64_t i = 0; i < n; ++i) {
        T& to = *reinterpret_cast<T*>(p[0] + i * s[0]);
        const double count = std::max(*reinterpret_cast<const double*>(p[1] + i * s[1]), 1.0);
        if constexpr (kIsComplex<T>)
          to = {typename T::value_type(to.re / count), typename T::value_type(to.im / count)};
        else if constexpr (std::is_integral_v<T>)
          to = T(std::floor(double(to) / count));
        else
          to = convert<T>(double(load(to)) / count);
      }
    });
  });
}

}  // namespace kernels
}  // namespace vivace
