// The fast paths, for small row-major operands of one dtype: no nest, no blocks, one call of the loop. Operators of one
// or two tensors of one shape come here straight from dispatch; others (numbers, small broadcasts) by way of the
// driver.
#include "runtime/loop/quick.h"

#include <algorithm>

#include "runtime/core/pool.h"
#include "runtime/kernels/copy.h"

namespace vivace {
namespace {

constexpr int64_t kQuickNumel = 32768;  // up to here one call of the loop, on this thread
constexpr int64_t kSplat = 512;         // elements up to which a number is spread over a buffer of its own
constexpr int kSplatOperands = 2;

/// Whether b, like a, is row-major and has its sizes.
inline bool row_major_like(const Tensor& a, const Tensor& b) {
  if (!b.row_major_ || a.ndim_ != b.ndim_) return false;
  for (int d = 0; d < a.ndim_; ++d)
    if (a.dims_[d] != b.dims_[d]) return false;
  return true;
}

/// Whether a number next to tensors of dtype t leaves the result at t.
inline bool keeps(DType t, const Value& v) {
  switch (v.tag) {
    case Tag::Bool:
      return true;
    case Tag::Int:
      return t != DType::Bool;
    case Tag::Float:
      return t >= DType::Float16;
    default:
      return is_complex(t);
  }
}

/// n copies of a number in the loop's type.
void splat(char* to, DType dtype, const Value& v, int64_t n) {
  if (dtype == DType::Float32) [[likely]] {
    std::fill_n(reinterpret_cast<float*>(to), n, float(v.scalar().to_double()));
    return;
  }
  alignas(16) char one[16];
  kernels::store_wrapped(dtype, one, v.scalar());
  visit_bits(dtype, [&]<class T>() { std::fill_n(reinterpret_cast<T*>(to), n, *reinterpret_cast<const T*>(one)); });
}

/// Whether b can be repeated to a's shape.
bool broadcasts_to(const Tensor& b, const Tensor& a) {
  const int missing = a.ndim_ - b.ndim_;
  if (missing < 0) return false;
  for (int d = 0; d < b.ndim_; ++d)
    if (b.dims_[d] != a.dims_[missing + d] && b.dims_[d] != 1) return false;
  return true;
}

/// b's elements, repeated to a's shape, in row-major order.
template <class T>
void expand(T* to, const Tensor& b, const Tensor& a) {
  const int n = a.ndim_, missing = n - b.ndim_;
  int64_t strides[kMaxDims], index[kMaxDims] = {};
  for (int d = 0; d < n; ++d) {
    const int at = d - missing;
    strides[d] = at < 0 || b.dims_[at] != a.dims_[d] ? 0 : b.dims_[b.ndim_ + at];
  }
  const int64_t inner = a.dims_[n - 1], step = strides[n - 1];
  const T* from = b.data<T>();
  for (int64_t left = a.numel_; left > 0; left -= inner) {
    for (int64_t i = 0; i < inner; ++i) *to++ = from[i * step];
    for (int d = n - 2; d >= 0; --d) {
      from += strides[d];
      if (++index[d] < a.dims_[d]) break;
      from -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

/// The end of `quick` where operands are numbers, or tensors to be repeated to a's shape (marked by a null in p);
/// apart, because its buffers make a large frame.
[[gnu::noinline]] void with_buffers(const PointwiseInfo& info, const Value* args, DType dtype, const Tensor& a,
                                    char** p, Loop loop) {
  alignas(64) char buffers[kSplatOperands][kSplat * 8];
  int used = 0;
  for (int k = 0; k < info.noperands; ++k) {
    if (p[k + 1]) continue;
    const Value& v = args[info.operands[k]];
    char* buffer = buffers[used++];
    if (v.is_tensor())
      visit_bits(v.tensor->dtype_, [&]<class T>() { expand(reinterpret_cast<T*>(buffer), *v.tensor, a); });
    else
      splat(buffer, dtype, v, a.numel_);
    p[k + 1] = buffer;
  }
  Scalar params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = args[info.params[k]].scalar();
  loop(p, a.numel_, params);
}

/// Whether the tensors have one dtype and shape and are row-major, not empty and small.
template <int N>
inline bool alike(const Value* args) {
  const Tensor& a = *args[0].tensor;
  bool same = a.row_major_ && uint64_t(a.numel_) - 1 < kQuickNumel;
  for (int k = 1; k < N; ++k) {
    const Tensor& b = *args[k].tensor;
    same =
        same && b.row_major_ && b.dtype_ == a.dtype_ && b.ndim_ == a.ndim_;  // row_major_like takes 4 instructions more
    for (int d = 0; same && d < a.ndim_; ++d) same = b.dims_[d] == a.dims_[d];
  }
  return same;
}

template <int N>
inline Object* fast_kernel(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const PointwiseInfo*>(op.data);
  const Tensor& a = *args[0].tensor;
  const PointwiseRow& row = info.rows[int(a.dtype_)];
  if (!row.no_casts || !alike<N>(args)) [[unlikely]]
    return pointwise_kernel(op, keys, args);
  if (info.check) info.check(args);
  Tensor* out = empty_row_major_like(a, DType(row.result));
  char* p[N + 1] = {out->data_};
  for (int k = 0; k < N; ++k) p[k + 1] = args[k].tensor->data_;
  loop_table[row.loop](p, a.numel_, &args[info.params[0]].scalar());
  if (integer_division_by_zero) [[unlikely]] {
    Py_DECREF(out);
    check_division();
  }
  return out;
}

template <int N>
inline Object* fast_in_place(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const PointwiseInfo*>(op.functional->data);
  Tensor& a = *args[0].tensor;
  const PointwiseRow& row = info.rows[int(a.dtype_)];
  if (!row.no_casts || row.result != uint8_t(a.dtype_) || !alike<N>(args)) return pointwise_kernel(op, keys, args);
  char* p[N + 1] = {a.data_};
  for (int k = 0; k < N; ++k) {
    const Tensor& b = *args[k].tensor;
    if (b.storage_ == a.storage_ && b.data_ != a.data_) return pointwise_kernel(op, keys, args);
    p[k + 1] = b.data_;
  }
  if (info.check) info.check(args);
  loop_table[row.loop](p, a.numel_, &args[info.params[0]].scalar());
  bump_version(a);
  check_division();
  return Py_NewRef(&a);
}

}  // namespace

Tensor* quick(const PointwiseInfo& info, const Value* args, Tensor* into) {
  const int first = info.masks & 1;  // a condition says nothing of the dtype
  const Value& v0 = args[info.operands[first]];
  if (!v0.is_tensor()) return nullptr;
  const DType dtype = v0.tensor->dtype_;
  const PointwiseRow& row = info.rows[int(dtype)];
  if (!row.no_casts || info.followers != info.masks) return nullptr;
  if (info.nparams > 0 && is_integral(dtype)) return nullptr;  // they have to fit
  const Tensor* whole = into ? into : v0.tensor;               // has the result's shape
  if (!into)
    for (int k = 0; k < info.noperands; ++k) {
      const Value& v = args[info.operands[k]];
      if (v.is_tensor() && (v.tensor->numel_ > whole->numel_ || v.tensor->ndim_ > whole->ndim_)) whole = v.tensor;
    }
  const Tensor& a = *whole;
  const int64_t n = a.numel_;
  if (n == 0 || n > kQuickNumel || !a.row_major_) return nullptr;
  char* p[kMaxOperands + 1];
  int buffers = 0;
  for (int k = 0; k < info.noperands; ++k) {
    const Value& v = args[info.operands[k]];
    if (v.is_tensor()) [[likely]] {
      const Tensor& b = *v.tensor;
      if (b.dtype_ != (info.masks >> k & 1 ? DType::Bool : dtype)) return nullptr;
      p[k + 1] = b.data_;
      const bool alike = &b == &a || row_major_like(a, b);
      if (into && b.storage_ == into->storage_ && !(alike && b.data_ == into->data_)) return nullptr;
      if (alike) continue;
      if (!b.row_major_ || !broadcasts_to(b, a)) return nullptr;
    } else if (!keeps(dtype, v)) {
      return nullptr;
    }
    if (n > kSplat || buffers == kSplatOperands || item_size(dtype) > 8) return nullptr;
    p[k + 1] = nullptr;
    ++buffers;
  }
  if (into && into->dtype_ != DType(row.result)) return nullptr;
  Tensor* out = into ? into : empty_row_major_like(a, DType(row.result));
  p[0] = out->data_;
  if (buffers > 0) {
    with_buffers(info, args, dtype, a, p, loop_table[row.loop]);
    return out;
  }
  Scalar params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = args[info.params[k]].scalar();
  loop_table[row.loop](p, n, params);
  return out;
}

Object* pointwise_unary_fast(const Op& op, KeySet keys, Value* args) { return fast_kernel<1>(op, keys, args); }
Object* pointwise_binary_fast(const Op& op, KeySet keys, Value* args) { return fast_kernel<2>(op, keys, args); }

Object* pointwise_unary_in_place_fast(const Op& op, KeySet keys, Value* args) {
  return fast_in_place<1>(op, keys, args);
}
Object* pointwise_binary_in_place_fast(const Op& op, KeySet keys, Value* args) {
  return fast_in_place<2>(op, keys, args);
}

void raise_division() {
  integer_division_by_zero = 0;
  raise(ErrorKind::Runtime, "ZeroDivisionError");
}

}  // namespace vivace
