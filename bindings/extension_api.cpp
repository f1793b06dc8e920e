// Fills the table of src/vivace/include/vivace/abi.h. Numbers of dtypes, tags and so on are the runtime's own, which is
// checked here: they must not change while kVersion stands.
#include "bindings/extension_api.h"

#include <algorithm>
#include <bit>

#include "bindings/convert.h"
#include "bindings/memory.h"
#include "bindings/native_kernel.h"
#include "bindings/parse.h"
#include "bindings/python_op.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

static_assert(sizeof(abi::Value) == sizeof(Value) && offsetof(abi::Value, tag) == offsetof(Value, tag) &&
              offsetof(abi::Value, count) == offsetof(Value, count));
static_assert(int(abi::Tag::Tensor) == int(Tag::Tensor) && int(abi::Tag::TensorList) == int(Tag::TensorList) &&
              int(abi::Tag::Object) == int(Tag::Object));
static_assert(int(abi::ScalarType::Long) == int(DType::Int64) && int(abi::ScalarType::Float) == int(DType::Float32) &&
              int(abi::ScalarType::ComplexDouble) == int(DType::Complex128));
static_assert(int(abi::DeviceType::PrivateUse1) == int(DeviceType::PrivateUse) &&
              int(abi::MemoryFormat::ChannelsLast3d) == int(MemoryFormat::ChannelsLast3d));

const abi::Operator* find_operator(const char* qualname, const char* signature) {
  return guarded_or(static_cast<const abi::Operator*>(nullptr), [&] {
    const Op* op = find_own(qualname);
    if (!op) fail("operator ", qualname, ", which an extension calls, does not exist");
    check_callers_signature(*op, signature);
    return reinterpret_cast<const abi::Operator*>(op);
  });
}

/// The argument as kernels expect it, which C++ callers may write shorter.
Value complete(const Op& op, int i, Value value, BoundCall& call) {
  const ArgSpec& spec = op.args[i];
  const bool none = value.tag == Tag::None;
  if (none && !spec.optional && !spec.has_default) {
    const bool tensor = spec.kind == ArgKind::Tensor;
    fail(op.name, "(): argument '", spec.name, "' ", tensor ? "is an undefined tensor" : "is missing",
         "; the signature is ", op.schema);
  }
  if (none && !spec.optional) return spec.fallback;
  if (spec.kind == ArgKind::TensorList)
    for (const Tensor* t : value.tensor_list())
      if (!t) fail(op.name, "(): a tensor of argument '", spec.name, "' is undefined");
  if (value.tag == Tag::IntList && value.count == 1 && spec.list_size > 1) {  // one number stands for all
    int64_t* ints = call.room<int64_t>(size_t(spec.list_size));
    std::fill_n(ints, spec.list_size, value.ints[0]);
    value = Value::of(IntList(ints, size_t(spec.list_size)));
  }
  return value;
}

KeySet keys_of(const Op& op, const Value* args) {
  for (uint32_t m = op.tensor_args | op.list_args; m; m &= m - 1)
    if (args[__builtin_ctz(m)].tag != Tag::None) return gather_keys(op, args);
  for (int i = 0; i < op.nargs; ++i)
    if (args[i].tag == Tag::Device) return backend_key(args[i].device().type);
  return bit(Key::CPU);
}

Object* call(const abi::Operator* handle, const abi::Value* given, int32_t count) {
  return guarded([&] {
    const Op& op = *reinterpret_cast<const Op*>(handle);
    BoundCall call;
    call.reset();
    for (int i = 0; i < op.nargs; ++i)
      call.args[i] = i < count ? complete(op, i, std::bit_cast<Value>(given[i]), call) : op.args[i].fallback;
    KeySet keys = keys_of(op, call.args);
    if (const PythonOp* extended = find_python_op(op)) keys |= extended->always;
    return checked(dispatch(op, keys, call.args));
  });
}

int32_t is_tensor_object(Object* object) { return is_tensor(object); }

void geometry(Object* object, abi::Geometry* result) {
  const Tensor& t = tensor_of(object);
  *result = {t.data_,
             t.sizes().data(),
             t.strides().data(),
             t.dim(),
             t.numel(),
             abi::ScalarType(t.dtype()),
             abi::DeviceType(t.device().type),
             t.device().index,
             t.is_contiguous()};
}

int32_t is_contiguous(Object* tensor, abi::MemoryFormat format) {
  return tensor_of(tensor).is_contiguous(MemoryFormat(format));
}

Object* from_memory(void* data, const int64_t* sizes, const int64_t* strides, int32_t ndim, abi::ScalarType dtype,
                    void (*deleter)(void*), void* context) {
  return guarded([&]() -> Object* {
    const IntList size_list(sizes, size_t(ndim)), stride_list(strides, size_t(ndim));
    const DType type = DType(dtype);
    const size_t nbytes = size_t(layout_extent(size_list, stride_list)) * item_size(type);
    Storage* storage = wrap_storage(data, nbytes, deleter ? deleter : [](void*) {}, context);
    return tensor_over(storage, type, size_list, stride_list, 0).release();
  });
}

Object* make_kernel(abi::KernelFunction function, void* context, const char* signature) {
  return guarded([&] { return make_native_kernel(function, context, signature); });
}

int32_t set_mode(abi::Mode mode, int32_t on) {
  if (mode == abi::Mode::Grad) return std::exchange(tls.grad_mode, on != 0);
  const KeySet key = bit(mode == abi::Mode::BelowAutograd ? Key::Autograd : Key::Autocast);
  const bool before = tls.exclude & key;
  tls.exclude = on ? tls.exclude | key : tls.exclude & ~key;
  return before;
}

Object* wrap_dtype(abi::ScalarType dtype) { return wrap(DType(dtype)); }

int32_t unwrap_dtype_object(Object* object, abi::ScalarType* result) {
  DType dtype;
  if (!unwrap_dtype(object, &dtype)) return 0;
  *result = abi::ScalarType(dtype);
  return 1;
}

Object* wrap_device(abi::DeviceType type, int32_t index) {
  return guarded([&] { return wrap(Device{DeviceType(type), int8_t(index)}); });
}

int32_t unwrap_device_object(Object* object, abi::DeviceType* type, int32_t* index) {
  return guarded_or(0, [&] {
    Device device;
    if (!unwrap_device(object, &device)) return 0;
    *type = abi::DeviceType(device.type);
    *index = device.index;
    return 1;
  });
}

int32_t unwrap_number(Object* object, abi::Value* result) {
  return guarded_or(0, [&] {
    Scalar scalar;
    if (!unwrap_scalar(object, &scalar)) return 0;
    *result = std::bit_cast<abi::Value>(Value::of(scalar));
    return 1;
  });
}

int32_t run_parallel(int64_t begin, int64_t end, int64_t grain, void (*f)(void*, int64_t, int64_t), void* context) {
  return guarded_or(-1, [&] {
    parallel_for(begin, end, grain, [&](int64_t b, int64_t e) { f(context, b, e); });
    return 0;
  });
}

int32_t num_threads() { return get_num_threads(); }

abi::Table table = {
    .version = abi::kVersion,
    .size = sizeof(abi::Table),
    .find_operator = find_operator,
    .call = call,
    .is_tensor = is_tensor_object,
    .geometry = geometry,
    .is_contiguous = is_contiguous,
    .from_memory = from_memory,
    .make_kernel = make_kernel,
    .set_mode = set_mode,
    .wrap_dtype = wrap_dtype,
    .unwrap_dtype = unwrap_dtype_object,
    .wrap_device = wrap_device,
    .unwrap_device = unwrap_device_object,
    .unwrap_scalar = unwrap_number,
    .parallel_for = run_parallel,
    .get_num_threads = num_threads,
};

}  // namespace

void init_extension_api(Object* module) {
  const auto capsule = Ref<Object>::steal(checked(PyCapsule_New(&table, abi::kCapsule, nullptr)));
  checked(PyModule_AddObjectRef(module, "_extension_api", capsule.object()));
}

}  // namespace vivace
