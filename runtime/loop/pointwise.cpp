#include "runtime/loop/pointwise.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/promote.h"
#include "runtime/dispatch/generic.h"
#include "runtime/kernels/copy.h"
#include "runtime/loop/blocks.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

/// Loops leave a note here when they divide an integer by zero.
extern int integer_division_by_zero;

namespace {

constexpr int64_t kQuickNumel = 32768;  // up to here one call of the loop, on this thread
constexpr int64_t kSplat = 512;         // elements up to which a number is spread over a buffer of its own
constexpr int kSplatOperands = 2;

inline bool is_tensor(const Value& v) { return v.tag == Tag::Tensor; }

// ---- the quick path: tensors of one dtype, contiguous, of one shape, and numbers

/// Whether b has a's sizes and strides. (Strides of dims of size 1 may differ for contiguous tensors; then the general
/// path takes over.)
inline bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.ndim_ != b.ndim_) return false;
  const int64_t *x = a.dims_, *y = b.dims_, *end = x + 2 * a.ndim_;
  for (; x != end; ++x, ++y)
    if (*x != *y) return false;
  return true;
}

inline bool contiguous_quick(const Tensor& t) {
  int64_t expected = 1;
  for (int d = t.ndim_ - 1; d >= 0; --d) {
    if (t.dims_[t.ndim_ + d] != expected && t.dims_[d] != 1) return false;
    expected *= t.dims_[d];
  }
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

inline Param to_param(const Value& v) {
  switch (v.tag) {
    case Tag::Float:
      return {v.f, 0, int64_t(v.f)};
    case Tag::Complex:
      return {v.f, v.imag, int64_t(v.f)};
    default:
      return {double(v.i), 0, v.i};
  }
}

/// n copies of a number in the loop's type.
void splat(char* to, DType dtype, const Value& v, int64_t n) {
  if (dtype == DType::Float32) [[likely]] {
    std::fill_n(reinterpret_cast<float*>(to), n, float(v.scalar().to_double()));
    return;
  }
  alignas(16) char one[16];
  kernels::store_scalar(dtype, one, v.scalar());
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
  Param params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = to_param(args[info.params[k]]);
  loop(p, n, params);
}

/// The result, or null if the operands are not of the simple kind. `into`: where to write, if in place.
Tensor* quick(const PointwiseInfo& info, const Value* args, Tensor* into) {
  const int first = info.masks & 1;  // a condition says nothing of the dtype
  const Value& v0 = args[info.operands[first]];
  if (!is_tensor(v0)) return nullptr;
  const Tensor& a = *v0.tensor;
  const PointwiseRow& row = info.rows[int(a.dtype_)];
  const int64_t n = a.numel_;
  if (row.compute != uint8_t(a.dtype_) || row.native != row.result || info.followers != info.masks || n > kQuickNumel ||
      n == 0 || !contiguous_quick(a))
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
    out = empty(a.sizes(), DType(row.result), a.device_).release();
  } else {
    if (into->dtype_ != DType(row.result)) return nullptr;
    out = into;
  }
  p[0] = out->data_;
  if (numbers > 0) {
    with_numbers(info, args, a.dtype_, n, p, loop_table[row.loop]);
    return out;
  }
  Param params[kMaxParams];
  for (int k = 0; k < info.nparams; ++k) params[k] = to_param(args[info.params[k]]);
  loop_table[row.loop](p, n, params);
  return out;
}

// ---- the general path

/// A call taken apart.
struct Call {
  const PointwiseInfo* info;
  const PointwiseRow* row;
  DType common;
  const Value* operands[kMaxOperands];
  Param params[kMaxParams];
  Dims sizes;

  int noperands() const { return info->noperands; }
  bool is_bool(int k) const { return info->masks >> k & 1; }
  bool promotes(int k) const { return !(info->followers >> k & 1); }
  DType loop_dtype(int k) const { return is_bool(k) ? DType::Bool : DType(row->compute); }
};

Dims broadcast(const char* name, IntList a, IntList b) {
  try {
    return broadcast_sizes(a, b);
  } catch (Error& error) {
    error.text = str(name, ": ", error.text);
    throw;
  }
}

Call analyse(const PointwiseInfo& info, const Value* args) {
  Call c;
  c.info = &info;
  ResultType type;
  bool first = true;
  for (int k = 0; k < info.noperands; ++k) {
    const Value& v = args[info.operands[k]];
    c.operands[k] = &v;
    if (is_tensor(v)) {
      if (c.promotes(k))
        type.add(*v.tensor);
      else if (c.is_bool(k) && v.tensor->dtype() != DType::Bool && v.tensor->dtype() != DType::UInt8)
        fail(info.name, ": expected a bool tensor for the condition or mask, but got ", v.tensor->dtype());
      if (first)
        c.sizes = v.tensor->sizes();
      else if (!std::ranges::equal(IntList(c.sizes), v.tensor->sizes()))
        c.sizes = broadcast(info.name, c.sizes, v.tensor->sizes());
      first = false;
    } else if (c.promotes(k)) {
      type.add(v.scalar());
    }
  }
  c.common = type.dtype();
  c.row = &info.rows[int(c.common)];
  if (c.row->compute == kUseDefault) {
    c.common = default_dtype;
    c.row = &info.rows[int(c.common)];
  }
  if (c.row->compute == kUnsupported) fail(info.name, ": not implemented for ", c.common);
  for (int k = 0; k < info.nparams; ++k) c.params[k] = to_param(args[info.params[k]]);
  return c;
}

/// Byte strides of t in the dims of `sizes`, outermost first.
void byte_strides(const Tensor& t, IntList sizes, int64_t* strides) {
  const int n = int(sizes.size()), missing = n - t.ndim_;
  for (int d = 0; d < n; ++d) {
    const int at = d - missing;
    const bool broadcasts = at < 0 || (t.dims_[at] == 1 && sizes[d] != 1);
    strides[d] = broadcasts ? 0 : t.dims_[t.ndim_ + at] * int64_t(t.item_size());
  }
}

/// A result laid out as PyTorch would: like the operands if they agree, else in the order of their dims.
TensorRef allocate(const Call& c, Device device) {
  const DType dtype = DType(c.row->result);
  const Tensor* model = nullptr;
  bool alike = true, contiguous = true;
  for (int k = 0; k < c.noperands(); ++k) {
    if (!is_tensor(*c.operands[k])) continue;
    const Tensor& t = *c.operands[k]->tensor;
    if (!std::ranges::equal(t.sizes(), IntList(c.sizes)))
      alike = false;
    else if (!t.is_contiguous())
      contiguous = false;
    if (model && alike && !std::ranges::equal(model->strides(), t.strides())) alike = false;
    if (!model) model = &t;
  }
  if (alike && contiguous) return empty(c.sizes, dtype, device);
  if (alike && model->is_non_overlapping_and_dense()) return empty_strided(c.sizes, model->strides(), dtype, device);
  int64_t memory[kMaxOperands][kMaxDims];
  const int64_t* strides[kMaxOperands];
  int ntensors = 0;
  for (int k = 0; k < c.noperands(); ++k) {
    if (!is_tensor(*c.operands[k])) continue;
    byte_strides(*c.operands[k]->tensor, c.sizes, memory[ntensors]);
    strides[ntensors] = memory[ntensors];
    ++ntensors;
  }
  int order[kMaxDims];
  order_dims(c.sizes, strides, ntensors, order);
  Dims result(c.sizes);
  int64_t step = 1;
  for (int i = 0; i < c.sizes.n; ++i) {
    result[order[i]] = step;
    step *= std::max<int64_t>(c.sizes[order[i]], 1);
  }
  return empty_strided(c.sizes, result, dtype, device);
}

void compute(Call& c, Tensor& out) {
  if (out.numel_ == 0) return;
  Blocks b;
  b.noperands = c.noperands() + 1;
  b.loop = loop_table[c.row->loop];
  b.params = c.params;
  b.ndim = c.sizes.n;
  alignas(16) char numbers[kMaxOperands][16];
  int64_t memory[kMaxOperands + 1][kMaxDims];
  const int64_t* strides[kMaxOperands + 1];
  const auto place = [&](int k, char* data, DType dtype, DType loop_dtype) {
    b.operands[k].data = data;
    b.operands[k].dtype = dtype;
    b.operands[k].loop_dtype = loop_dtype;
    strides[k] = memory[k];
  };
  place(0, out.raw(), out.dtype(), DType(c.row->native));
  byte_strides(out, c.sizes, memory[0]);
  for (int k = 0; k < c.noperands(); ++k) {
    const Value& v = *c.operands[k];
    if (is_tensor(v)) {
      const DType dtype = c.is_bool(k) ? DType::Bool : v.tensor->dtype();
      place(k + 1, v.tensor->raw(), dtype, c.loop_dtype(k));
      byte_strides(*v.tensor, c.sizes, memory[k + 1]);
    } else {
      // As PyTorch: the number becomes an element of the common dtype first, so that it is rounded as a tensor would
      // be.
      kernels::store_scalar(c.is_bool(k) ? DType::Bool : c.common, numbers[k], v.scalar());
      place(k + 1, numbers[k], c.is_bool(k) ? DType::Bool : c.common, c.loop_dtype(k));
      std::fill_n(memory[k + 1], b.ndim, 0);
    }
  }
  int order[kMaxDims];
  order_dims(c.sizes, strides, b.noperands, order);
  for (int i = 0; i < b.ndim; ++i) {
    b.sizes[i] = c.sizes[order[i]];
    for (int k = 0; k < b.noperands; ++k) b.operands[k].strides[i] = memory[k][order[i]];
  }
  b.coalesce();
  b.run();
}

void check_division() {
  if (integer_division_by_zero) [[unlikely]] {
    integer_division_by_zero = 0;
    raise(ErrorKind::Runtime, "ZeroDivisionError");
  }
}

Device device_of(const Call& c) {
  for (int k = 0; k < c.noperands(); ++k)
    if (is_tensor(*c.operands[k])) return c.operands[k]->tensor->device();
  return {};
}

// ---- writing to a tensor that exists

/// Throws if elements of out share memory with each other.
void check_no_internal_overlap(const Tensor& out) {
  if (out.is_non_overlapping_and_dense()) return;
  for (int d = 0; d < out.ndim_; ++d)
    if (out.dims_[d] > 1 && out.dims_[out.ndim_ + d] == 0)
      fail(
          "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
          " Please clone() the tensor before performing the operation.");
}

/// Throws if out shares some, but not all, memory with an operand.
void check_no_partial_overlap(const Tensor& out, const Tensor& in) {
  if (&out == &in || out.storage_ != in.storage_ || out.numel_ == 0 || in.numel_ == 0) return;
  if (!out.is_non_overlapping_and_dense() || !in.is_non_overlapping_and_dense()) return;
  const char *out_end = out.raw() + out.nbytes(), *in_end = in.raw() + in.nbytes();
  if (out.raw() == in.raw() && out_end == in_end && std::ranges::equal(out.strides(), in.strides())) return;
  if (out.raw() < in_end && in.raw() < out_end)
    fail(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location."
        " Please clone() the tensor before performing the operation.");
}

void check_overlap(const Call& c, const Tensor& out) {
  check_no_internal_overlap(out);
  for (int k = 0; k < c.noperands(); ++k)
    if (is_tensor(*c.operands[k])) check_no_partial_overlap(out, *c.operands[k]->tensor);
}

/// Below or at out: whether an operand is read after out's memory has been written.
bool reads_written_memory(const Call& c, const Tensor& out) {
  for (int k = 0; k < c.noperands(); ++k) {
    if (!is_tensor(*c.operands[k])) continue;
    const Tensor& t = *c.operands[k]->tensor;
    if (t.storage_ == out.storage_ && !(t.raw() == out.raw() && std::ranges::equal(t.sizes(), out.sizes()) &&
                                        std::ranges::equal(t.strides(), out.strides())))
      return true;
  }
  return false;
}

void write(Call& c, Tensor& out) {
  check_overlap(c, out);
  if (!out.is_meta()) {
    if (reads_written_memory(c, out)) {
      const TensorRef fresh = allocate(c, out.device());
      compute(c, *fresh);
      copy_into(out, *fresh);
    } else {
      compute(c, out);
    }
  }
  bump_version(out);
  check_division();
}

void write_in_place(const Op& op, Call& c, Tensor& self) {
  if (!std::ranges::equal(self.sizes(), IntList(c.sizes)))
    fail(op.name, ": output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntList(c.sizes));
  if (!can_cast(DType(c.row->result), self.dtype()))
    prepare_out(self, *empty(c.sizes, DType(c.row->result), self.device()));
  write(c, self);
}

void write_out(Call& c, Tensor& out) {
  if (!std::ranges::equal(out.sizes(), IntList(c.sizes)) || !can_cast(DType(c.row->result), out.dtype()) ||
      out.device() != device_of(c))
    prepare_out(out, *empty(c.sizes, DType(c.row->result), device_of(c)));
  write(c, out);
}

Object* run(const Op& op, Value* args) {
  const PointwiseInfo* info = static_cast<const PointwiseInfo*>((op.functional ? op.functional : &op)->data);
  if (info->check) info->check(args);
  if (info->choose) info = &info->choose(args);
  if (op.op_class == OpClass::Plain) [[likely]] {
    const Value& first = args[info->operands[0]];
    Tensor* out = is_tensor(first) && !first.tensor->is_meta() ? quick(*info, args, nullptr) : nullptr;
    if (out == nullptr) {
      Call c = analyse(*info, args);
      TensorRef result = allocate(c, device_of(c));
      if (!result->is_meta()) compute(c, *result);
      out = result.release();
    }
    if (integer_division_by_zero) [[unlikely]] {
      Py_DECREF(out);
      check_division();
    }
    return out;
  }
  if (op.op_class == OpClass::InPlace) {
    Tensor& self = *args[0].tensor;
    if (!self.is_meta() && info->operands[0] == 0 && quick(*info, args, &self)) {
      bump_version(self);
      check_division();
    } else {
      Call c = analyse(*info, args);
      write_in_place(op, c, self);
    }
    return Py_NewRef(&self);
  }
  Tensor& out = *args[op.nargs - 1].tensor;
  Call c = analyse(*info, args);
  write_out(c, out);
  return Py_NewRef(&out);
}

}  // namespace

Object* pointwise_kernel(const Op& op, KeySet, Value* args) { return run(op, args); }
Object* pointwise_meta(const Op& op, KeySet, Value* args) { return run(op, args); }

Tensor* pointwise(const PointwiseInfo& info, const Value* args) {
  if (Tensor* out = quick(info, args, nullptr)) return out;
  Call c = analyse(info, args);
  TensorRef result = allocate(c, device_of(c));
  if (!result->is_meta()) compute(c, *result);
  return result.release();
}

}  // namespace vivace
