// See backend.h.
#include "runtime/dispatch/backend.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/core/foreign_memory.h"
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/box.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/dispatch/generic.h"

namespace vivace {

BackendHooks backend_hooks;

namespace {

constexpr int kMaxArgs = 32;
constexpr KeySet kBackend = bit(Key::PrivateUse);

std::unordered_map<const Op*, Kernel> own_kernels;

Object* checked(Object* made) {
  if (!made) throw PythonError{};
  return made;
}
void checked(int status) {
  if (status < 0) throw PythonError{};
}

Kernel kernel_of(const Op& op) { return op.table.kernels[int(Key::PrivateUse)]; }
/// Whether the backend registered a kernel, as opposed to what every backend has.
bool is_registered(const Op& op) { return kernel_of(op) != own_backend_kernel(op); }

[[noreturn]] void refuse(const char* name, const char* overload) {
  fail_not_implemented("Could not run 'aten::", name, *overload ? "." : "", overload, "' with arguments from the '",
                       vivace::name(DeviceType::PrivateUse),
                       "' backend. It registered no kernel for it, none that it could be derived from, and no fallback "
                       "(docs/backends.md says how to).");
}

// ---- operators by name

struct Known {
  const Op& empty = *find_op("empty", "memory_format");
  const Op& empty_strided = *find_op("empty_strided", "");
  const Op& as_strided = *find_op("as_strided", "");
  const Op& fill = *find_op("fill_", "Scalar");
  const Op& conj = *find_op("conj", "");
  const Op& local_scalar = *find_op("_local_scalar_dense", "");
};
const Known& known() {
  static const Known ops;
  return ops;
}

/// The arguments of a call, by the names of op's schema; the rest are the defaults.
class Call {
 public:
  explicit Call(const Op& op) : op_(op) {
    for (int i = 0; i < op.nargs; ++i) args_[i] = op.args[i].fallback;
  }
  Call& set(std::string_view name, const Value& value) {
    for (int i = 0; i < op_.nargs; ++i)
      if (op_.args[i].name == name) args_[i] = value;
    return *this;
  }
  Object* operator()(KeySet keys = kBackend) { return redispatch(op_, keys, args_); }

 private:
  const Op& op_;
  Value args_[kMaxArgs];
};

TensorRef tensor_result(const Op& op, Object* result) {
  const auto owner = Ref<Object>::steal(result);
  if (!is_tensor(result)) fail(op.name, "(): the backend's kernel returned ", Py_TYPE(result)->tp_name, ", no tensor");
  return TensorRef::share(&tensor_of(result));
}

// ---- memory: what core asks for

void check_made(const Op& op, const Tensor& t, IntList sizes, DType dtype, Device device) {
  if (!std::ranges::equal(t.sizes(), sizes) || t.dtype() != dtype || t.device() != device)
    fail(op.name, "(): the backend's kernel was asked for a tensor of sizes ", sizes, " and dtype ", dtype, " on ",
         text_of(device), ", and made one of sizes ", t.sizes(), " and dtype ", t.dtype(), " on ", text_of(t.device()));
}

TensorRef make(IntList sizes, IntList strides, DType dtype, Device device) {
  const bool row_major = std::ranges::equal(IntList(contiguous_strides(sizes)), strides);
  const Op& plain = known().empty;
  const Op& strided = known().empty_strided;
  if (is_registered(plain) && (row_major || !is_registered(strided))) {
    TensorRef t = tensor_result(
        plain,
        Call(plain).set("size", Value::of(sizes)).set("dtype", Value::of(dtype)).set("device", Value::of(device))());
    check_made(plain, *t, sizes, dtype, device);
    return t;
  }
  if (is_registered(strided)) {
    TensorRef t = tensor_result(strided, Call(strided)
                                             .set("size", Value::of(sizes))
                                             .set("stride", Value::of(strides))
                                             .set("dtype", Value::of(dtype))
                                             .set("device", Value::of(device))());
    check_made(strided, *t, sizes, dtype, device);
    return t;
  }
  if (!backend_hooks.allocate) refuse("empty", "memory_format");
  return over_storage(sizes, strides, dtype, device,
                      backend_hooks.allocate(reached_bytes(sizes, strides, dtype), device));
}

void copy(Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0) return;
  const Op& op = *backend_hooks.copy_from;
  Py_DECREF(Call(op).set("self", Value::of(const_cast<Tensor*>(&src))).set("dst", Value::of(&dst))());
}

void fill(Tensor& t, const Scalar& value) {
  if (t.numel() == 0) return;
  const Op& op = known().fill;
  if (is_registered(op)) {
    Py_DECREF(Call(op).set("self", Value::of(&t)).set("value", Value::of(value))());
    return;
  }
  const TensorRef here = empty(t.sizes(), t.dtype());
  fill_into(*here, value);
  copy(t, *here);
}

/// Whether t's elements are the backend's own business: the object carries them, and its storage is a mark alone.
bool carries_payload(const Tensor& t) { return !t.storage_->resizable; }

/// Gives `to` the attributes of `from`, and its class unless it has one itself: all that a tensor with a payload is.
void share_payload(const Tensor& from, Tensor& to) {
  PyTypeObject* type = Py_TYPE(&from);
  if (is_tensor_exact(&to) && type != tensor_type && type != parameter_type)
    checked(PyObject_SetAttrString(&to, "__class__", reinterpret_cast<Object*>(type)));
  if (!from.dict) return;
  track(to);
  if (!to.dict) to.dict = checked(PyDict_New());
  checked(PyDict_Update(to.dict, from.dict));
}

void show(const Tensor& t, Tensor& view) {
  if (!carries_payload(t)) return;
  const bool same = t.dtype() == view.dtype() && t.storage_offset() == view.storage_offset() &&
                    std::ranges::equal(t.sizes(), view.sizes()) && std::ranges::equal(t.strides(), view.strides());
  if (same) return share_payload(t, view);
  const Op& op = known().as_strided;
  if (t.dtype() != view.dtype())
    fail_not_implemented("a tensor of the '", vivace::name(DeviceType::PrivateUse),
                         "' backend can't be viewed as another dtype: its elements lie in the object");
  if (!is_registered(op)) refuse("as_strided", "");
  const TensorRef shown = tensor_result(op, Call(op)
                                                .set("self", Value::of(const_cast<Tensor*>(&t)))
                                                .set("size", Value::of(view.sizes()))
                                                .set("stride", Value::of(view.strides()))
                                                .set("storage_offset", Value::of(view.storage_offset()))());
  check_made(op, *shown, view.sizes(), view.dtype(), view.device());
  share_payload(*shown, view);
}

void relayout(Tensor& t) {
  if (carries_payload(t))
    fail_not_implemented("a tensor of the '", vivace::name(DeviceType::PrivateUse),
                         "' backend can't change its sizes or strides in place: its elements lie in the object");
}

void resize(Storage& s, size_t nbytes) {
  if (s.nbytes != 0 || !backend_hooks.allocate || num_tensors(s) > 1)
    fail_not_implemented("can't resize a storage of ", s.nbytes, " bytes on the '",
                         vivace::name(DeviceType::PrivateUse), "' backend");
  Storage* fresh = backend_hooks.allocate(nbytes, s.device);
  std::swap(s.data, fresh->data);
  std::swap(s.nbytes, fresh->nbytes);
  std::swap(s.deleter, fresh->deleter);
  std::swap(s.context, fresh->context);
  release(fresh);
}

// ---- derived kernels

bool has_device(const Op& op) {
  return std::any_of(op.args, op.args + op.nargs, [](const ArgSpec& a) { return a.kind == ArgKind::Device; });
}

bool is_foreign_tensor(const Value& v) {
  return v.tag == Tag::Tensor && v.tensor && v.tensor->device().type == DeviceType::PrivateUse;
}

/// A tensor of t's layout elsewhere, with nothing in it.
TensorRef stand_in(const Tensor& t, Device device) { return empty_strided(t.sizes(), t.strides(), t.dtype(), device); }

TensorRef copied_to(const Tensor& t, Device device) {
  TensorRef copy = empty_like(t);
  if (t.device() == device) return copy_into(*copy, t), copy;
  const bool dense = t.is_non_overlapping_and_dense();
  copy = dense ? empty_strided(t.sizes(), t.strides(), t.dtype(), device) : empty(t.sizes(), t.dtype(), device);
  copy_into(*copy, t);
  return copy;
}

/// Of a factory: computed on the CPU, and copied across.
Object* made_on_cpu(const Op& op, Value* args) {
  Device device;
  bool named = false, requires_grad = false;
  std::vector<TensorRef> stand_ins;
  for (int i = 0; i < op.nargs; ++i) {
    if (op.args[i].kind == ArgKind::Device) {
      named = args[i].tag == Tag::Device;
      if (named) device = args[i].device();
      args[i] = Value::of(Device{});
    } else if (std::string_view(op.args[i].name) == "requires_grad") {
      requires_grad = args[i].tag == Tag::Bool && args[i].i;
      args[i] = Value::of(false);
    } else if (is_foreign_tensor(args[i])) {
      if (!named) device = args[i].tensor->device();
      stand_ins.push_back(stand_in(*args[i].tensor, Device{}));
      args[i] = Value::of(stand_ins.back().get());
    }
  }
  TensorRef made = tensor_result(op, op.table.kernels[int(Key::CPU)](op, bit(Key::CPU), args));
  if (device.type != DeviceType::CPU) made = copied_to(*made, device);
  return with_requires_grad(std::move(made), requires_grad).release();
}

Object* read_number(const Op& op, Value* args) {
  const Tensor& t = *args[0].tensor;
  const TensorRef here = empty(t.sizes(), t.dtype());
  copy_into(*here, t);
  args[0] = Value::of(here.get());
  return op.table.kernels[int(Key::CPU)](op, bit(Key::CPU), args);
}

/// Operators that compute what another does.
struct Forms {
  const Op* out = nullptr;       // writes the result to out=
  const Op* tensor = nullptr;    // takes a tensor where the other takes a number
  std::vector<const Op*> along;  // of a reduction of all dims: those along dims that are named
};

Forms find_forms(const Op& op) {
  Forms forms;
  std::string overload = op.overload;
  const size_t at = overload.rfind("Scalar");
  if (at != overload.npos) overload.replace(at, 6, "Tensor");
  for (const Op* other : all_ops()) {
    if (other->op_class == OpClass::Out && other->functional == &op) forms.out = other;
    if (other == &op || std::string_view(other->name) != op.name) continue;
    if (at != overload.npos && other->overload == overload && other->nargs == op.nargs) forms.tensor = other;
    if (!*op.overload && op.op_class == OpClass::Plain && other->op_class == OpClass::Plain && other->nargs > 1 &&
        other->args[1].kind == ArgKind::IntList && std::string_view(other->args[1].name) == "dim")
      forms.along.push_back(other);
  }
  return forms;
}

const Forms& forms_of(const Op& op) {
  static std::unordered_map<const Op*, Forms> found;
  const auto at = found.find(&op);
  return at != found.end() ? at->second : found.emplace(&op, find_forms(op)).first->second;
}

/// By the out= form, into outputs of the shapes that the meta device finds.
Object* by_out_form(const Op& op, const Op& form, Value* args) {
  Value shapes[kMaxArgs], all[kMaxArgs];
  std::vector<TensorRef> stand_ins;
  Device device;
  for (int i = 0; i < op.nargs; ++i) {
    shapes[i] = all[i] = args[i];
    if (!is_foreign_tensor(args[i])) continue;
    device = args[i].tensor->device();
    stand_ins.push_back(stand_in(*args[i].tensor, {DeviceType::Meta}));
    shapes[i] = Value::of(stand_ins.back().get());
  }
  const auto meta = Ref<Object>::steal(op.table.kernels[int(Key::Meta)](op, bit(Key::Meta), shapes));
  Object* result = meta.get();
  std::vector<TensorRef> outputs;
  for (const Tensor* shape : result_tensors(result)) {
    outputs.push_back(stand_in(*shape, device));
    all[op.nargs + int(outputs.size()) - 1] = Value::of(outputs.back().get());
  }
  Py_DECREF(redispatch(form, kBackend, all));
  if (outputs.size() == 1) return outputs[0].release();
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(outputs.size()))));
  for (size_t i = 0; i < outputs.size(); ++i) PyTuple_SET_ITEM(tuple.object(), Py_ssize_t(i), outputs[i].release());
  return tuple.release();
}

TensorRef tensor_of_number(const Scalar& s) {
  const DType dtype = s.is_bool()       ? DType::Bool
                      : s.is_integral() ? DType::Int64
                      : s.is_complex()  ? DType::Complex128
                                        : DType::Float64;
  return scalar_tensor(s, dtype);
}

/// Kernels written in Python get the number itself, as PyTorch gives it to them.
Object* by_tensor_form(const Op& op, const Op& form, Value* args) {
  if (backend_hooks.takes_numbers(form)) return redispatch(form, kBackend, args);
  std::vector<TensorRef> numbers;
  for (int i = 0; i < op.nargs; ++i) {
    if (op.args[i].kind != ArgKind::Scalar || form.args[i].kind != ArgKind::Tensor) continue;
    numbers.push_back(tensor_of_number(args[i].scalar()));
    args[i] = Value::of(numbers.back().get());
  }
  return redispatch(form, kBackend, args);
}

/// The reduction along dims that the backend has, and op is a case of; or null.
const Op* dims_form(const Op& op) {
  for (const Op* form : forms_of(op).along)
    if (is_registered(*form)) return form;
  return nullptr;
}

Object* by_dims_form(const Op& op, const Op& form, const Value* args) {
  Call call(form);
  call.set("dim", Value::of(IntList()));
  for (int i = 0; i < op.nargs; ++i) call.set(op.args[i].name, args[i]);
  return call();
}

bool serves(const Op& op) { return kernel_of(op) != backend_kernel; }

/// Whether the backend can compute op, by a kernel or by a form of it that has one.
bool can_compute(const Op& op) {
  if (serves(op) || is_implicit_composite(op)) return true;
  const Forms& forms = forms_of(op);
  return (forms.tensor && is_registered(*forms.tensor)) || (forms.out && is_registered(*forms.out)) || dims_form(op);
}

}  // namespace

Kernel own_backend_kernel(const Op& op) {
  const auto found = own_kernels.find(&op);
  return found == own_kernels.end() ? backend_kernel : found->second;
}

Object* backend_kernel(const Op& op, KeySet keys, Value* args) {
  check_same_device(op, args);
  if (&op == &known().local_scalar) return read_number(op, args);
  if (&op == &known().conj && !is_complex(args[0].tensor->dtype())) return alias(*args[0].tensor).release();
  if (std::string_view(op.name).starts_with("_fused_"))
    refuse(op.name, op.overload);  // they read more than they are given
  if (op.functional && can_compute(*op.functional))
    return (op.op_class == OpClass::InPlace ? inplace_by_copy : out_by_copy)(op, keys, args);
  const Forms& forms = forms_of(op);
  if (forms.tensor && is_registered(*forms.tensor)) return by_tensor_form(op, *forms.tensor, args);
  if (forms.out && is_registered(*forms.out)) return by_out_form(op, *forms.out, args);
  if (const Op* form = dims_form(op)) return by_dims_form(op, *form, args);
  if (op.op_class == OpClass::Plain && has_device(op)) return made_on_cpu(op, args);
  if (backend_hooks.fallback) return backend_hooks.fallback(op, args);
  refuse(op.name, op.overload);
}

void install_backend() {
  static const bool once = [] {
    for (Op* op : all_ops()) {
      if (op->table.keys & kBackend) {
        own_kernels[op] = kernel_of(*op);
      } else if (!is_implicit_composite(*op)) {
        set_kernel(*op, Key::PrivateUse, backend_kernel);
      }
    }
    foreign_memory = {make, copy, fill, show, relayout, resize};
    return true;
  }();
  (void)once;
}

Object* as_view_of(Tensor& self, Object* result) {
  auto owner = Ref<Object>::steal(result);
  for (Tensor*& made : result_tensors(result)) {
    if (!is_tensor(made) || !carries_payload(self) || made == &self || made->storage_ == self.storage_) continue;
    TensorRef view = bare_view(self, made->sizes(), made->strides(), made->storage_offset(), made->dtype());
    share_payload(*made, *view);
    if (result == made) return view.release();
    Tensor* old = std::exchange(made, view.release());
    Py_DECREF(old);
  }
  return owner.release();
}

void check_same_device(const Op& op, const Value* args) {
  const Tensor* first = nullptr;
  for (uint32_t m = op.tensor_args; m; m &= m - 1) {
    const Value& v = args[__builtin_ctz(m)];
    const Tensor* t = v.tag == Tag::Tensor ? v.tensor : nullptr;
    if (!t || (t->dim() == 0 && t->device().type == DeviceType::CPU)) continue;
    if (!first) first = t;
    if (t->device() != first->device())
      fail("Expected all tensors to be on the same device, but found at least two devices, ", text_of(first->device()),
           " and ", text_of(t->device()), "!");
  }
}

}  // namespace vivace
