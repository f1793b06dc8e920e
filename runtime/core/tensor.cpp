// Making tensors: the helpers that kernels allocate with.
#include "runtime/core/tensor.h"

#include <cstdlib>
#include <cstring>

#include "runtime/core/foreign_memory.h"
#include "runtime/core/pool.h"
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/keys.h"
#include "runtime/kernels/copy.h"

namespace vivace {

#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
CollectorHead* youngest = nullptr;
#endif
DType default_dtype = DType::Float32;
PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;
/// What a view or an alias has of a tensor's keys. Who sees its calls is a matter of its own class.
constexpr KeySet kSharedKeys = kMemoryKeys & ~bit(Key::Python);

Tensor* free_tensors[kTensorsKept + 1];
int free_tensor_count = 0;
ForeignMemory foreign_memory;

namespace {

inline void set_dims_storage(Tensor* t, int ndim) {
  if (ndim <= kInlineDims) [[likely]] {
    t->dims_ = t->inline_dims_;
  } else {
    if (ndim > kMaxDims) fail_too_many_dims(size_t(ndim));
    t->dims_ = static_cast<int64_t*>(std::malloc(sizeof(int64_t) * 2 * size_t(ndim)));
  }
  t->ndim_ = uint8_t(ndim);
}

inline void free_dims(Tensor* t) {
  if (t->dims_ != t->inline_dims_) std::free(t->dims_);
  t->dims_ = t->inline_dims_;
}

/// Elements from the first to the last one reached, both included; 0 if there are none.
int64_t extent(IntList sizes, IntList strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    int64_t step;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &step) || __builtin_add_overflow(last, step, &last))
      fail("sizes ", sizes, " and strides ", strides, " reach too far");
  }
  return last + 1;
}

/// Bytes of numel elements of a tensor of these sizes.
size_t bytes_of(int64_t numel, DType dtype, IntList sizes) {
  int64_t bytes;
  if (__builtin_mul_overflow(numel, int64_t(item_size(dtype)), &bytes)) [[unlikely]]
    fail("Storage size calculation overflowed with sizes=", sizes);
  return size_t(bytes);
}

void check_sizes(IntList sizes) {
  for (const int64_t s : sizes)
    if (s < 0) fail("Trying to create tensor with negative dimension ", s, ": ", sizes);
}

bool is_row_major(IntList sizes, IntList strides) {
  uint64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (uint64_t(strides[d]) != expected) return false;
    expected *= sizes[d] > 1 ? uint64_t(sizes[d]) : 1;
  }
  return true;
}

inline void attach(Tensor* t, Storage* owned) {
  t->storage_ = owned;
  t->data_ = owned->data;
  t->version_ = &owned->version;
}

}  // namespace

Tensor* layout_only(IntList sizes, IntList strides, DType dtype, Device device) {
  auto ref = TensorRef::steal(new_tensor());
  Tensor* t = ref.get();
  const int n = int(sizes.size());
  set_dims_storage(t, n);
  for (int d = 0; d < n; ++d) {
    t->dims_[d] = sizes[d];
    t->dims_[n + d] = strides[d];
  }
  t->numel_ = count(sizes);
  t->row_major_ = is_row_major(sizes, strides);
  t->dtype_ = dtype;
  t->device_ = device;
  t->keys = backend_key(device.type);
  return ref.release();
}

Tensor* new_tensor_slow() {
  Tensor* t = PyObject_GC_New(Tensor, tensor_type);
  if (!t) throw PythonError{};
  std::memset(reinterpret_cast<char*>(t) + sizeof(Object), 0, sizeof(Tensor) - sizeof(Object));
  t->dims_ = t->inline_dims_;
  return t;
}

int64_t Tensor::storage_offset() const { return (data_ - storage_->data) / int64_t(item_size()); }

bool Tensor::requires_grad() const { return keys & bit(Key::Autograd); }

TensorRef over_storage(IntList sizes, IntList strides, DType dtype, Device device, Storage* owned) {
  Tensor* t = layout_only(sizes, strides, dtype, device);
  attach(t, owned);
  return TensorRef::steal(t);
}

size_t reached_bytes(IntList sizes, IntList strides, DType dtype) {
  return bytes_of(extent(sizes, strides), dtype, sizes);
}

TensorRef empty(IntList sizes, DType dtype, Device device) {
  if (device.type == DeviceType::PrivateUse) [[unlikely]]
    return empty_strided(sizes, contiguous_strides(sizes), dtype, device);
  const int n = int(sizes.size());
  Tensor* t = new_tensor();
  auto ref = TensorRef::steal(t);
  set_dims_storage(t, n);
  int64_t numel = 1;
  uint64_t step = 1;  // wraps where a dim of size 0 stands before large ones
  bool bad = false;
  for (int d = n - 1; d >= 0; --d) {
    const int64_t s = sizes[d];
    t->dims_[d] = s;
    t->dims_[n + d] = int64_t(step);
    bad |= s < 0;
    bad |= __builtin_mul_overflow(numel, s, &numel);
    step *= s > 1 ? uint64_t(s) : 1;
  }
  if (bad) [[unlikely]] {
    check_sizes(sizes);
    count(sizes);
  }
  t->numel_ = numel;
  t->row_major_ = true;
  t->dtype_ = dtype;
  t->device_ = device;
  t->keys = backend_key(device.type);
  attach(t, allocate_storage(bytes_of(numel, dtype, sizes), device));
  return ref;
}

TensorRef empty_strided(IntList sizes, IntList strides, DType dtype, Device device) {
  check_sizes(sizes);
  for (const int64_t s : strides)
    if (s < 0) fail("empty_strided(): strides must not be negative, got ", strides);
  if (sizes.size() != strides.size())
    fail("empty_strided(): as many strides as sizes are needed, got ", strides, " for ", sizes);
  if (device.type == DeviceType::PrivateUse) return foreign_memory.make(sizes, strides, dtype, device);
  auto ref = TensorRef::steal(layout_only(sizes, strides, dtype, device));
  attach(ref.get(), allocate_storage(reached_bytes(sizes, strides, dtype), device));
  return ref;
}

TensorRef empty_like(const Tensor& t) { return empty_like(t, t.dtype()); }

TensorRef empty_like(const Tensor& t, DType dtype) {
  if (t.is_contiguous()) return empty(t.sizes(), dtype, t.device());
  if (t.is_non_overlapping_and_dense()) return empty_strided(t.sizes(), t.strides(), dtype, t.device());
  // PyTorch's rule for the rest: dense, the dims ordered by stride; dims of stride 0 stay where they are.
  const int n = t.ndim_;
  int order[kMaxDims];
  for (int d = 0; d < n; ++d) order[d] = n - 1 - d;  // innermost first
  const int64_t *size = t.dims_, *stride = t.dims_ + n;
  auto should_swap = [&](int a, int b) {  // 1: a must come after b; 0: unknown
    if (stride[a] == 0 || stride[b] == 0) return 0;
    if (stride[a] != stride[b]) return stride[a] < stride[b] ? -1 : 1;
    return size[a] > size[b] ? 1 : 0;
  };
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int k = i - 1; k >= 0; --k) {
      const int c = should_swap(order[k], order[at]);
      if (c > 0) {
        std::swap(order[k], order[at]);
        at = k;
      } else if (c < 0) {
        break;
      }
    }
  }
  int64_t strides[kMaxDims], step = 1;
  for (int i = 0; i < n; ++i) {
    strides[order[i]] = step;
    step *= size[order[i]] > 1 ? size[order[i]] : 1;
  }
  return empty_strided(t.sizes(), {strides, size_t(n)}, dtype, t.device());
}

TensorRef scalar_tensor(const Scalar& value, DType dtype, Device device) {
  TensorRef t = empty(IntList{}, dtype, device);
  fill_into(*t, value);
  return t;
}

TensorRef make_view(Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  return make_view(t, sizes, strides, offset, t.dtype());
}

TensorRef bare_view(Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype) {
  Tensor* v = layout_only(sizes, strides, dtype, t.device());
  v->keys |= t.keys & kSharedKeys;
  retain(t.storage_);
  v->storage_ = t.storage_;
  v->version_ = t.version_;
  v->data_ = t.storage_->data + offset * int64_t(item_size(dtype));
  Tensor* root = t.base ? t.base : &t;
  Py_INCREF(root);
  v->base = root;
  v->epoch = root->epoch;
  v->origin = tls.inference_mode ? ViewOrigin::Inference : tls.grad_mode ? t.origin : ViewOrigin::WithoutGrad;
  v->keys |= bit(Key::View);
  if (t.extra && t.version_ != &t.storage_->version) adopt_version(*v, t);
  track_new(v);
  return TensorRef::steal(v);
}

TensorRef make_view(Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype) {
  TensorRef view = bare_view(t, sizes, strides, offset, dtype);
  if (t.keys & bit(Key::PrivateUse)) [[unlikely]]
    foreign_memory.show(t, *view);
  return view;
}

TensorRef bare_alias(const Tensor& t) {
  Tensor* v = layout_only(t.sizes(), t.strides(), t.dtype(), t.device());
  v->keys |= t.keys & kSharedKeys;
  retain(t.storage_);
  v->storage_ = t.storage_;
  v->version_ = t.version_;
  v->data_ = t.data_;
  if (t.extra && t.version_ != &t.storage_->version) adopt_version(*v, t);
  return TensorRef::steal(v);
}

TensorRef alias(const Tensor& t) {
  TensorRef same = bare_alias(t);
  if (t.keys & bit(Key::PrivateUse)) [[unlikely]]
    foreign_memory.show(t, *same);
  return same;
}

TensorRef contiguous(const Tensor& t) {
  if (t.is_contiguous()) return TensorRef::share(const_cast<Tensor*>(&t));
  TensorRef copy = empty(t.sizes(), t.dtype(), t.device());
  copy_into(*copy, t);
  return copy;
}

TensorRef to_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return TensorRef::share(const_cast<Tensor*>(&t));
  TensorRef copy = empty_like(t, dtype);
  copy_into(*copy, t);
  return copy;
}

void copy_into(Tensor& dst, const Tensor& src) {
  if (dst.device_.type == DeviceType::CPU && src.device_.type == DeviceType::CPU) [[likely]]
    kernels::copy_strided(dst, src);
  else if (!dst.is_meta() && !src.is_meta())
    foreign_memory.copy(dst, src);
}

void fill_into(Tensor& dst, const Scalar& value) {
  if (dst.device_.type == DeviceType::CPU) [[likely]]
    kernels::fill_strided(dst, value);
  else if (!dst.is_meta())
    foreign_memory.fill(dst, value);
}

void set_layout(Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  const Dims new_sizes(sizes), new_strides(strides);  // they may alias t's own
  const int64_t numel = count(new_sizes);
  if (t.keys & bit(Key::PrivateUse)) [[unlikely]]
    foreign_memory.relayout(t);
  if (new_sizes.n != t.ndim_) {
    free_dims(&t);
    set_dims_storage(&t, new_sizes.n);
  }
  t.numel_ = numel;
  for (int d = 0; d < new_sizes.n; ++d) {
    t.dims_[d] = new_sizes[d];
    t.dims_[new_sizes.n + d] = new_strides[d];
  }
  t.row_major_ = is_row_major(new_sizes, new_strides);
  t.data_ = t.storage_->data + offset * int64_t(t.item_size());
}

void resize_into(Tensor& t, IntList sizes) {
  check_sizes(sizes);
  const Dims copy(sizes);
  const int64_t offset = t.storage_offset(), numel = count(sizes);
  const size_t needed = numel ? bytes_of(numel, t.dtype(), sizes) + size_t(offset) * t.item_size() : 0;
  if (needed > t.storage_->nbytes) resize_storage(t.storage_, needed);
  set_layout(t, copy, contiguous_strides(copy), offset);
}

}  // namespace vivace
