// The general path: takes a call apart, promotes, broadcasts, makes the output, and hands blocks to the loop.
#include "runtime/loop/pointwise.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/overlap.h"
#include "runtime/core/promote.h"
#include "runtime/dispatch/generic.h"
#include "runtime/kernels/copy.h"
#include "runtime/loop/blocks.h"
#include "runtime/loop/quick.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

namespace {

// ---- the general path

/// A call taken apart.
struct Call {
  const PointwiseInfo* info;
  const PointwiseRow* row;
  DType common;
  const Value* operands[kMaxOperands];
  Scalar params[kMaxParams];
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
    if (v.is_tensor()) {
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
  if (c.row->compute == kUnsupported) fail_not_implemented(info.name, ": not implemented for ", c.common);
  const bool integers = is_integral(c.common) && is_integral(DType(c.row->compute));
  for (int k = 0; k < info.nparams; ++k) {
    c.params[k] = args[info.params[k]].scalar();
    if (integers) kernels::check_fits(c.params[k], c.common);
  }
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
  if (c.info->row_major) return empty(c.sizes, dtype, device);
  const Tensor* model = nullptr;
  bool alike = true, contiguous = true;
  for (int k = 0; k < c.noperands(); ++k) {
    if (!c.operands[k]->is_tensor()) continue;
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
    if (!c.operands[k]->is_tensor()) continue;
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
  b.item_loops = item_loop_table[c.row->loop];
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
    if (v.is_tensor()) {
      const DType dtype = c.is_bool(k) ? DType::Bool : v.tensor->dtype();
      place(k + 1, v.tensor->raw(), dtype, c.loop_dtype(k));
      byte_strides(*v.tensor, c.sizes, memory[k + 1]);
    } else {
      // As PyTorch: the number becomes an element of the common dtype first, so that it is rounded as a tensor would
      // be.
      kernels::store_wrapped(c.is_bool(k) ? DType::Bool : c.common, numbers[k], v.scalar());
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

/// Of the first tensor that has dims; else of any that is on the meta device.
Device device_of(const Call& c) {
  Device device;
  for (int k = 0; k < c.noperands(); ++k) {
    if (!c.operands[k]->is_tensor()) continue;
    if (c.operands[k]->tensor->dim() > 0) return c.operands[k]->tensor->device();
    if (c.operands[k]->tensor->is_meta()) device = c.operands[k]->tensor->device();
  }
  return device;
}

[[noreturn]] void fail_device(DeviceType have, DeviceType want) {
  fail("Tensor on device ", name(have), " is not on the expected device ", name(want), "!");
}

/// Throws where a tensor with elements stands among those of the meta device; one without dims may.
void check_devices(const Call& c) {
  const Device device = device_of(c);
  for (int k = 0; k < c.noperands(); ++k) {
    if (!c.operands[k]->is_tensor()) continue;
    const Tensor& t = *c.operands[k]->tensor;
    if (t.device() != device && (t.dim() > 0 || t.is_meta())) fail_device(t.device().type, device.type);
  }
}

bool any_meta(const PointwiseInfo& info, const Value* args) {
  for (int k = 0; k < info.noperands; ++k) {
    const Value& v = args[info.operands[k]];
    if (v.is_tensor() && v.tensor->is_meta()) return true;
  }
  return false;
}

// ---- writing to a tensor that exists

void check_overlap(const Call& c, const Tensor& out) {
  check_no_internal_overlap(out);
  for (int k = 0; k < c.noperands(); ++k)
    if (c.operands[k]->is_tensor()) check_no_partial_overlap(out, *c.operands[k]->tensor);
}

/// Below or at out: whether an operand is read after out's memory has been written.
bool reads_written_memory(const Call& c, const Tensor& out) {
  for (int k = 0; k < c.noperands(); ++k) {
    if (!c.operands[k]->is_tensor()) continue;
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
  check_castable(DType(c.row->result), self.dtype());
  write(c, self);
}

void write_out(const Op& op, Call& c, Tensor& out) {
  if (!std::ranges::equal(out.sizes(), IntList(c.sizes)) || DType(c.row->result) != out.dtype() ||
      out.device() != device_of(c))
    prepare_out(op, out, *empty(c.sizes, DType(c.row->result), device_of(c)));
  write(c, out);
}

Object* run(const Op& op, Value* args) {
  const PointwiseInfo* info = static_cast<const PointwiseInfo*>((op.functional ? op.functional : &op)->data);
  if (info->check) info->check(args);
  if (info->choose) info = &info->choose(args);
  if (op.op_class == OpClass::Plain) [[likely]] {
    Tensor* out = args[info->operands[0]].is_tensor() ? quick(*info, args, nullptr) : nullptr;
    if (out == nullptr) {
      Call c = analyse(*info, args);
      TensorRef result = allocate(c, device_of(c));
      compute(c, *result);
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
    if (info->operands[0] == 0 && quick(*info, args, &self)) {
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
  write_out(op, c, out);
  return Py_NewRef(&out);
}

}  // namespace

Object* pointwise_kernel(const Op& op, KeySet, Value* args) { return run(op, args); }

Object* pointwise_meta(const Op& op, KeySet, Value* args) {
  const PointwiseInfo* info = static_cast<const PointwiseInfo*>((op.functional ? op.functional : &op)->data);
  if (info->check) info->check(args);
  if (info->choose) info = &info->choose(args);
  Call c = analyse(*info, args);
  check_devices(c);
  if (op.op_class == OpClass::Plain) return allocate(c, {DeviceType::Meta}).release();
  Tensor& out = *args[op.op_class == OpClass::InPlace ? 0 : op.nargs - 1].tensor;
  if (!out.is_meta()) fail_device(DeviceType::Meta, DeviceType::CPU);
  if (op.op_class == OpClass::InPlace)
    write_in_place(op, c, out);
  else
    write_out(op, c, out);
  return Py_NewRef(&out);
}

Tensor* pointwise(const PointwiseInfo& info, const Value* args) {
  if (any_meta(info, args)) return allocate(analyse(info, args), {DeviceType::Meta}).release();
  if (Tensor* out = quick(info, args, nullptr)) return out;
  Call c = analyse(info, args);
  TensorRef result = allocate(c, device_of(c));
  compute(c, *result);
  return result.release();
}

}  // namespace vivace
