// The free lists that small tensors come from and go back to, inline: making and freeing one is on the path of every
// call. Storage memory is laid out in storage.cpp.
#pragma once
#include <bit>
#include <cstdlib>

#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/keys.h"

namespace vivace {

inline constexpr size_t kSmallestBlock = 64;
inline constexpr int kSmallClasses = 7;  // 64 bytes ... 4 KB
inline constexpr size_t kLargestSmall = kSmallestBlock << (kSmallClasses - 1);
inline constexpr int kSmallKeep = 1024;  // blocks kept per small class
#if defined(VIVACE_NO_POOLS) || defined(Py_REF_DEBUG)
inline constexpr bool kPooling = false;
#else
inline constexpr bool kPooling = true;
#endif
inline constexpr int kTensorsKept = kPooling ? 2048 : 0;

/// Free storages, linked through `context`.
struct FreeList {
  Storage* head;
  int length;
};
[[gnu::visibility("hidden")]] extern FreeList small_storages[kSmallClasses];
/// Calls `watch` for memory that storages get (bytes > 0) and give back; null: no more.
void watch_storages(void (*watch)(const Storage& storage, int64_t bytes));
extern Tensor* free_tensors[kTensorsKept + 1];
extern int free_tensor_count;

/// Class of a small request.
inline size_t small_class(size_t nbytes) {
  return nbytes <= kSmallestBlock ? 0 : size_t(std::bit_width((nbytes - 1) >> 6));
}

/// Uninitialised CPU memory.
inline Storage* allocate_cpu(size_t nbytes) {
  if (nbytes <= kLargestSmall) [[likely]] {
    FreeList& list = small_storages[small_class(nbytes)];
    if (Storage* s = list.head) [[likely]] {
      list.head = static_cast<Storage*>(s->context);
      --list.length;
      s->nbytes = nbytes;
      s->refcount = 1;
      s->version = 0;
      return s;
    }
  }
  return allocate_storage(nbytes);
}

/// Gives up one reference.
inline void release_pooled(Storage* s) {
  if (--s->refcount != 0) return;
  const size_t c = s->size_class;
  if (c < kSmallClasses && !s->deleter && small_storages[c].length < kSmallKeep && kPooling) [[likely]] {
    FreeList& list = small_storages[c];
    s->context = list.head;
    list.head = s;
    ++list.length;
    return;
  }
  free_storage(s);
}

/// A tensor that no free list had.
Tensor* new_tensor_slow();

/// An exact Tensor with null references; keys, dims and storage are the caller's to set.
inline Tensor* new_tensor() {
  if (free_tensor_count == 0) [[unlikely]]
    return new_tensor_slow();
  Tensor* t = free_tensors[--free_tensor_count];
  Py_SET_REFCNT(t, 1);  // type, with its count, and null fields were kept
  return t;
}

/// A tensor of this layout over nothing yet: storage, version counter and data are the caller's to set.
Tensor* layout_only(IntList sizes, IntList strides, DType dtype, Device device);

/// Takes back the memory of a tensor whose references (but for the storage) are gone.
inline void recycle_tensor(Tensor* t) {
  if (t->storage_) [[likely]] {
    release_pooled(t->storage_);
    t->storage_ = nullptr;
  }
  if (t->dims_ != t->inline_dims_) [[unlikely]] {
    std::free(t->dims_);
    t->dims_ = t->inline_dims_;  // in case the next user fails before it sets its own
  }
  PyTypeObject* type = Py_TYPE(t);
  if (type == tensor_type && free_tensor_count < kTensorsKept) [[likely]] {
    free_tensors[free_tensor_count++] = t;
    return;
  }
  type->tp_free(t);
  Py_DECREF(type);
}

/// Uninitialised, with the layout of t, which is row-major and on the CPU.
[[gnu::always_inline]] inline Tensor* empty_row_major_like(const Tensor& t, DType dtype) {
  if (t.ndim_ > kInlineDims) [[unlikely]]
    return empty(t.sizes(), dtype).release();
  Storage* storage = allocate_cpu(size_t(t.numel_) * item_size(dtype));
  Tensor* out = new_tensor();
  const int n = t.ndim_;
  out->keys = bit(Key::CPU);
  out->dtype_ = dtype;
  out->ndim_ = uint8_t(n);
  out->device_ = Device{};
  out->numel_ = t.numel_;
  out->row_major_ = true;
  out->dims_ = out->inline_dims_;
  for (int i = 0; i < 2 * n; ++i) out->inline_dims_[i] = t.dims_[i];
  out->storage_ = storage;
  out->data_ = storage->data;
  out->version_ = &storage->version;
  return out;
}

}  // namespace vivace
