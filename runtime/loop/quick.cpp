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
inline bool same_layout(const Tensor& a, const Tensor& b) {
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

/// The end of `quick` where operands are numbers; apart, because its buffers make a large frame.
[[gnu::noinline]] void with_numbers(const PointwiseInfo& info, const Value* args, DType dtype, int64_t n, char** p,
                                    Loop loop) {
  alignas(64) char buffers[kSplatOperands][kSplat * 8];
  int numbers = 0;
  for (int k = 0; k < info.noperands; ++k) {
    const Value& v = args[info.operands[k]];
    if (is_tensor(v)) continue;
    splat(buffers[numbers], dtype, v, n);
    p[k + 1] = buffers[numbers++];
  }
  Scalar params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = args[info.params[k]].scalar();
  loop(p, n, params);
}

/// Whether the tensors have one dtype and shape and are row-major, not empty and small.
template <int N>
inline bool alike(const Value* args) {
  const Tensor& a = *args[0].tensor;
  bool same = a.row_major_ && uint64_t(a.numel_) - 1 < kQuickNumel;
  for (int k = 1; k < N; ++k) {
    const Tensor& b = *args[k].tensor;
    same = same && b.row_major_ && b.dtype_ == a.dtype_ && b.ndim_ == a.ndim_;
    for (int d = 0; same && d < a.ndim_; ++d) same = b.dims_[d] == a.dims_[d];
  }
  return same;
}

template <int N>
inline Object* alike_kernel(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const PointwiseInfo*>(op.data);
  const Tensor& a = *args[0].tensor;
  const PointwiseRow& row = info.rows[int(a.dtype_)];
  if (row.compute != uint8_t(a.dtype_) || row.native != row.result || !alike<N>(args)) [[unlikely]]
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

}  // namespace

Tensor* quick(const PointwiseInfo& info, const Value* args, Tensor* into) {
  const int first = info.masks & 1;  // a condition says nothing of the dtype
  const Value& v0 = args[info.operands[first]];
  if (!is_tensor(v0)) return nullptr;
  const Tensor& a = *v0.tensor;
  const PointwiseRow& row = info.rows[int(a.dtype_)];
  const int64_t n = a.numel_;
  if (row.compute != uint8_t(a.dtype_) || row.native != row.result || info.followers != info.masks || n > kQuickNumel ||
      n == 0 || !a.row_major_)
    return nullptr;
  char* p[kMaxOperands + 1];
  int numbers = 0;
  for (int k = 0; k < info.noperands; ++k) {
    const Value& v = args[info.operands[k]];
    if (is_tensor(v)) [[likely]] {
      const Tensor& b = *v.tensor;
      p[k + 1] = b.data_;
      if (&b == &a) continue;
      const DType wanted = info.masks >> k & 1 ? DType::Bool : a.dtype_;
      if (b.dtype_ != wanted || !same_layout(a, b)) return nullptr;
      if (into && b.storage_ == into->storage_ && b.data_ != into->data_) return nullptr;
    } else {
      if (n > kSplat || numbers == kSplatOperands || item_size(a.dtype_) > 8 || !keeps(a.dtype_, v)) return nullptr;
      ++numbers;
    }
  }
  Tensor* out;
  if (into == nullptr) {
    out = empty_row_major_like(a, DType(row.result));
  } else {
    if (into->dtype_ != DType(row.result)) return nullptr;
    out = into;
  }
  p[0] = out->data_;
  if (numbers > 0) {
    with_numbers(info, args, a.dtype_, n, p, loop_table[row.loop]);
    return out;
  }
  Scalar params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = args[info.params[k]].scalar();
  loop_table[row.loop](p, n, params);
  return out;
}

Object* pointwise_kernel_1(const Op& op, KeySet keys, Value* args) { return alike_kernel<1>(op, keys, args); }
Object* pointwise_kernel_2(const Op& op, KeySet keys, Value* args) { return alike_kernel<2>(op, keys, args); }

void check_division() {
  if (integer_division_by_zero) [[unlikely]] {
    integer_division_by_zero = 0;
    raise(ErrorKind::Runtime, "ZeroDivisionError");
  }
}

}  // namespace vivace
