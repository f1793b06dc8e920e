// In place and out= differ from the functional form only in where the result goes, so they are written once, here.
#include "runtime/dispatch/generic.h"

#include <algorithm>

#include "runtime/autograd/grad.h"
#include "runtime/core/overlap.h"
#include "runtime/core/promote.h"

namespace vivace {
namespace {

constexpr int kMaxOutputs = 8;

struct Fresh {
  TensorRef refs[kMaxOutputs];
  Tensor* raw[kMaxOutputs];
  int n;
};

/// The outputs that an op's shape function makes.
void make_outputs(const StructuredInfo& info, Value* args, Fresh& fresh) {
  fresh.n = info.nout;
  info.meta(args, fresh.refs);
  for (int i = 0; i < fresh.n; ++i) fresh.raw[i] = fresh.refs[i].get();
}

[[noreturn]] void refuse_meta() {
  fail("Expected all tensors to be on the same device, but found at least two devices, cpu and meta!");
}

/// Arguments on the meta device have no values for a result that has some.
void check_devices(KeySet keys, const Fresh& fresh) {
  if (!(keys & bit(Key::Meta))) return;
  for (int i = 0; i < fresh.n; ++i)
    if (fresh.raw[i] && !fresh.raw[i]->is_meta()) refuse_meta();
}

Object* tuple_of(TensorRef* refs, int n) {
  Object* tuple = PyTuple_New(n);
  for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple, i, refs[i] ? refs[i].release() : Py_NewRef(Py_None));
  return tuple;
}

/// Whether t shares memory with a tensor among the first n arguments other than `except`.
bool shares_memory(const Op& op, const Value* args, int n, const Tensor& t, const Tensor* except = nullptr) {
  const auto same = [&](const Tensor* x) { return x && x != except && x->storage_ == t.storage_; };
  for (int i = 0; i < n; ++i) {
    if (op.tensor_args >> i & 1) {
      if (!args[i].is_none() && same(args[i].tensor)) return true;
    } else if (op.list_args >> i & 1) {
      for (const Tensor* x : args[i].tensor_list())
        if (same(x)) return true;
    }
  }
  return false;
}

/// C++'s names of dtypes, which some of PyTorch's messages use.
const char* cpp_name(DType t) {
  static const char* const names[] = {
      "bool",          "unsigned char", "signed char", "short int",           "unsigned short",
      "int",           "unsigned int",  "long int",    "unsigned long",       "c10::Half",
      "c10::BFloat16", "float",         "double",      "c10::complex<float>", "c10::complex<double>"};
  return names[int(t)];
}

/// How many of op's arguments are the functional op's.
int num_inputs(const Op& op) {
  int n = op.nargs;
  while (n > 0 && op.args[n - 1].is_output) --n;
  return n;
}

/// Calls `check(written, input)` for the tensors among the first n arguments, unless op may write to their memory.
template <class Check>
void check_inputs_apart(const Op& op, const Value* args, int n, const Tensor& written, Check check) {
  if (op.writes & kWritesOverlap) return;
  for (int i = 0; i < n; ++i) {
    if (op.tensor_args >> i & 1) {
      if (!args[i].is_none()) check(written, *args[i].tensor);
    } else if (op.list_args >> i & 1) {
      for (const Tensor* t : args[i].tensor_list())
        if (t) check(written, *t);
    }
  }
}

void check_in_place(const Op& op, const Value* args, const Tensor& self) {
  check_no_internal_overlap(self);
  check_inputs_apart(op, args, op.nargs, self, check_no_partial_overlap);
}

void finish_inplace(const Op& op, Tensor& self, const Tensor& result) {
  if (!std::ranges::equal(self.sizes(), result.sizes())) [[unlikely]]
    fail(op.name, ": output with shape ", self.sizes(), " doesn't match the broadcast shape ", result.sizes());
  check_castable(result.dtype(), self.dtype());
  if (!self.is_meta()) copy_into(self, result);
  bump_version(self);
}

/// The out arguments of op stand for `dtype=`: they decide it, or have to agree with it. A real one says nothing of
/// complex inputs, whose norms it may hold.
void take_dtype_of_out(const Op& op, Value* args, int ninputs) {
  const Tensor& out = *args[ninputs].tensor;
  if (op.args[0].kind == ArgKind::Tensor && is_complex(args[0].tensor->dtype()) && !is_complex(out.dtype())) return;
  for (int i = 0; i < ninputs; ++i) {
    if (op.args[i].kind != ArgKind::DType || !op.args[i].optional) continue;
    if (args[i].is_none()) {
      args[i] = Value::of(out.dtype());
    } else if (args[i].dtype() != out.dtype()) {
      fail("dtype ", args[i].dtype(), " does not match dtype of out parameter (", out.dtype(), ")");
    }
  }
}

/// Readies `out` for `result` by op's rules.
void ready_out(const Op& op, const Value* args, int ninputs, Tensor& out, const Tensor& result) {
  check_no_internal_overlap(out);
  if (!std::ranges::equal(out.sizes(), result.sizes())) {
    check_inputs_apart(op, args, ninputs, out, check_no_overlap);
    const bool is_factory = !op.functional->tensor_args && !op.functional->list_args;
    if (is_factory) resize_into(out, result.sizes());
  }
  prepare_out(op, out, result);
  check_inputs_apart(op, args, ninputs, out, check_no_partial_overlap);
}

void finish_out(const Op& op, const Value* args, int ninputs, Tensor& out, const Tensor& result) {
  ready_out(op, args, ninputs, out, result);
  if (!out.is_meta()) copy_into(out, result);
  bump_version(out);
}

/// What an out= call returns: its out arguments.
Object* outputs_of(const Op& op, const Value* args, int ninputs) {
  const int n = op.nargs - ninputs;
  if (n == 1) return Py_NewRef(args[ninputs].tensor);
  Object* tuple = PyTuple_New(n);
  for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[ninputs + i].tensor));
  return tuple;
}

}  // namespace

void check_castable(DType result, DType out) {
  if (!can_cast(result, out)) [[unlikely]]
    fail("result type ", scalar_type_name(result), " can't be cast to the desired output type ", scalar_type_name(out));
}

void prepare_out(const Op& op, Tensor& out, const Tensor& result) {
  if (!(op.writes & kWritesCast) && out.dtype() != result.dtype()) [[unlikely]]
    fail("Expected out tensor to have dtype ", cpp_name(result.dtype()), ", but got ", cpp_name(out.dtype()),
         " instead");
  check_castable(result.dtype(), out.dtype());
  if (out.device().type != result.device().type) [[unlikely]]
    fail("Expected out tensor to have device ", name(result.device().type), ", but got ", name(out.device().type),
         " instead");
  if (std::ranges::equal(out.sizes(), result.sizes())) return;
  if (out.numel() != 0) {
    const std::string text = str("An output with one or more elements was resized since it had shape ", out.sizes(),
                                 ", which does not match the required output shape ", result.sizes(),
                                 ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
                                 "resized unless they have zero"
                                 " elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
                                 "elements with t.resize_(0).");
    warn(text.c_str());
  }
  resize_into(out, result.sizes());
}

Object* structured_kernel(const Op& op, KeySet, Value* args) {
  const auto& info = *static_cast<const StructuredInfo*>(op.data);
  if (info.nout == 1) [[likely]] {
    TensorRef out;
    info.meta(args, &out);
    Tensor* raw = out.get();
    info.fill(args, &raw);
    return out.release();
  }
  Fresh fresh;
  make_outputs(info, args, fresh);
  info.fill(args, fresh.raw);
  return tuple_of(fresh.refs, fresh.n);
}

Object* structured_meta(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const StructuredInfo*>(op.data);
  Fresh fresh;
  make_outputs(info, args, fresh);
  check_devices(keys, fresh);
  return fresh.n == 1 ? fresh.refs[0].release() : tuple_of(fresh.refs, fresh.n);
}

Object* structured_inplace(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const StructuredInfo*>(op.functional->data);
  Tensor& self = *args[0].tensor;
  check_in_place(op, args, self);
  Fresh fresh;
  make_outputs(info, args, fresh);
  if (!self.is_meta() && (keys & bit(Key::Meta))) refuse_meta();  // the result may have an argument's device
  Tensor* const result = fresh.raw[0];
  if (info.alias_safe && !self.is_meta() && self.dtype() == result->dtype() && same_layout(self, *result) &&
      !shares_memory(op, args, op.nargs, self, &self)) {
    Tensor* const raw = &self;
    info.fill(args, &raw);
    bump_version(self);
  } else {
    if (!self.is_meta()) info.fill(args, fresh.raw);
    finish_inplace(op, self, *result);
  }
  return Py_NewRef(&self);
}

Object* structured_out(const Op& op, KeySet keys, Value* args) {
  const auto& info = *static_cast<const StructuredInfo*>(op.functional->data);
  const int ninputs = num_inputs(op);
  take_dtype_of_out(op, args, ninputs);
  Fresh fresh;
  make_outputs(info, args, fresh);
  Tensor* direct[kMaxOutputs];
  bool all_direct = true;
  for (int i = 0; i < fresh.n; ++i) {
    Tensor& out = *args[ninputs + i].tensor;
    ready_out(op, args, ninputs, out, *fresh.raw[i]);
    direct[i] = &out;
    all_direct = all_direct && out.dtype() == fresh.raw[i]->dtype() && same_layout(out, *fresh.raw[i]) &&
                 !shares_memory(op, args, ninputs, out);
  }
  check_devices(keys, fresh);
  const bool meta = fresh.raw[0]->is_meta();
  if (!meta) info.fill(args, all_direct ? direct : fresh.raw);
  for (int i = 0; i < fresh.n; ++i) {
    if (!meta && !all_direct) copy_into(*direct[i], *fresh.raw[i]);
    bump_version(*direct[i]);
  }
  return outputs_of(op, args, ninputs);
}

Object* inplace_by_copy(const Op& op, KeySet keys, Value* args) {
  check_in_place(op, args, *args[0].tensor);
  const TensorRef result =
      TensorRef::steal(static_cast<Tensor*>(redispatch(*op.functional, keys & kBackendKeys, args)));
  Tensor& self = *args[0].tensor;
  finish_inplace(op, self, *result);
  return Py_NewRef(&self);
}

Object* out_by_copy(const Op& op, KeySet keys, Value* args) {
  const int ninputs = num_inputs(op);
  take_dtype_of_out(op, args, ninputs);
  const Ref<Object> result = Ref<Object>::steal(redispatch(*op.functional, keys & kBackendKeys, args));
  if (PyTuple_Check(result.get())) {
    for (int i = ninputs; i < op.nargs; ++i)
      finish_out(op, args, ninputs, *args[i].tensor,
                 *static_cast<Tensor*>(PyTuple_GET_ITEM(result.get(), i - ninputs)));
  } else {
    finish_out(op, args, ninputs, *args[ninputs].tensor, *static_cast<Tensor*>(result.get()));
  }
  return outputs_of(op, args, ninputs);
}

Object* composite_inplace(const Op& op, KeySet, Value* args) {
  static const Op& copy = *find_op("copy_", "");
  const Tensor& self = *args[0].tensor;
  const KeySet keys = gather_keys(*op.functional, args);
  std::vector<Value> inputs(args, args + op.nargs);
  TensorRef original;
  if (tls.grad_mode && keys & bit(Key::Autograd)) {  // what the operators inside save is not what is written to
    static const Op& clone = *find_op("clone", "");
    Value clone_args[] = {args[0], Value::none()};
    original = TensorRef::steal(static_cast<Tensor*>(dispatch(clone, gather_keys(clone, clone_args), clone_args)));
    inputs[0].tensor = original.get();
  }
  const TensorRef result = TensorRef::steal(static_cast<Tensor*>(dispatch(*op.functional, keys, inputs.data())));
  if (result->is_meta() && !self.is_meta()) refuse_meta();
  check_castable(result->dtype(), self.dtype());
  Value copy_args[] = {args[0], Value::of(result.get()), Value::of(false)};
  return dispatch(copy, gather_keys(copy, copy_args), copy_args);
}

Object* missing_kernel(const Op& op, KeySet keys, Value*) {
  const char* backend = keys & bit(Key::Meta) ? "Meta" : "CPU";
  fail_not_implemented("Could not run 'aten::", op.name, *op.overload ? "." : "", op.overload,
                       "' with arguments from the '", backend, "' backend: it has no kernel there.");
}

TensorRef with_requires_grad(TensorRef t, bool requires_grad) {
  if (requires_grad) set_requires_grad(*t, true);
  return t;
}

}  // namespace vivace
