// The tensor, which is the Python object itself: a layout over a storage, and what autograd knows of it.
// Exact Tensor objects come from a free list. Plain tensors are not tracked by Python's collector; a tensor is
// tracked from the moment when it can be part of a cycle (grad_fn, grad, base, hooks, attributes, a leaf that requires
// grad).
#pragma once
#include <initializer_list>
#include <optional>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/core/dtype.h"
#include "runtime/core/error.h"
#include "runtime/core/object.h"
#include "runtime/core/scalar.h"
#include "runtime/core/storage.h"

namespace vivace {

struct Node;
struct Tensor;
struct TensorExtra;
using TensorRef = Ref<Tensor>;
using TensorList = std::span<Tensor* const>;
using KeySet = uint32_t;

inline constexpr int kMaxDims = 64;
inline constexpr int kInlineDims = 5;

/// How a view came to be: all but Recorded refuse to be written to while gradients are recorded, because the write
/// could not be told from the base's history.
enum class ViewOrigin : uint8_t { Recorded, OneOfSeveral, WithoutGrad, Inference, CustomFunction };

struct Tensor : Object {
  KeySet keys;
  DType dtype_;
  uint8_t ndim_;
  Device device_;
  int64_t numel_;
  char* data_;         // first element; null where numel is 0 or the device has no memory
  Storage* storage_;   // owned
  uint32_t* version_;  // into the storage, or into `extra` after .data
  int64_t* dims_;      // sizes, then strides, in elements: `inline_dims_` or owned heap memory
  Node* grad_fn;       // owned; null for leaves
  Tensor* grad;        // owned
  Tensor* base;        // owned: of a view, the tensor at the root
  uint32_t output_nr;  // which output of grad_fn this is
  uint32_t epoch;      // of a root: raised when its history changes; of a view: the root's when last synchronised
  TensorExtra* extra;  // owned: hooks and other rare things
  Object* dict;
  Object* weakrefs;
  bool row_major_;    // the strides are contiguous_strides(sizes)
  ViewOrigin origin;  // of a view, which has it of the view that it was made from; elsewhere Recorded
  int64_t inline_dims_[2 * kInlineDims];

  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  bool is_meta() const { return device_.type == DeviceType::Meta; }
  int64_t dim() const { return ndim_; }
  int64_t numel() const { return numel_; }
  IntList sizes() const { return {dims_, ndim_}; }
  IntList strides() const { return {dims_ + ndim_, ndim_}; }
  /// Size along a dimension that may be negative.
  int64_t size(int64_t d) const { return ndim_ == 0 ? (wrap_dim(d, 0), 1) : dims_[wrap_dim(d, ndim_)]; }
  int64_t stride(int64_t d) const { return ndim_ == 0 ? (wrap_dim(d, 0), 1) : dims_[ndim_ + wrap_dim(d, ndim_)]; }
  size_t item_size() const { return vivace::item_size(dtype_); }
  size_t nbytes() const { return size_t(numel_) * item_size(); }
  int64_t storage_offset() const;
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(data_);
  }
  char* raw() const { return data_; }
  /// Row-major without gaps (any strides where a size is 0 or 1).
  bool is_contiguous() const;
  bool is_contiguous(MemoryFormat format) const;
  /// Some permutation of the dims is row-major without gaps.
  bool is_non_overlapping_and_dense() const;
  bool requires_grad() const;
  bool is_leaf() const { return grad_fn == nullptr; }
};

// ---- making tensors (never recorded by autograd; kernels call these)

/// Uninitialised, contiguous. Throws for negative sizes.
TensorRef empty(IntList sizes, DType dtype, Device device = {});
inline TensorRef empty(std::initializer_list<int64_t> sizes, DType dtype, Device device = {}) {
  return empty(IntList(sizes.begin(), sizes.size()), dtype, device);
}
/// Uninitialised, with the given strides (non-overlapping and dense or not; storage covers the extent).
TensorRef empty_strided(IntList sizes, IntList strides, DType dtype, Device device = {});
/// Uninitialised, same sizes; strides as PyTorch's preserve_format: kept if t is non-overlapping and dense, else its
/// dims' order.
TensorRef empty_like(const Tensor& t);
TensorRef empty_like(const Tensor& t, DType dtype);
/// A 0-dim tensor.
TensorRef scalar_tensor(const Scalar& value, DType dtype, Device device = {});
/// A view of t's storage, with t (or its root) as base. `offset` counts elements from the start of the storage.
TensorRef make_view(Tensor& t, IntList sizes, IntList strides, int64_t offset);
/// The same with the bytes read as another dtype; strides and offset count its elements.
TensorRef make_view(Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype);
/// The same elements, storage and version counter, without history or base: what detach() gives.
TensorRef alias(const Tensor& t);
/// t itself (shared) if contiguous, else a contiguous copy. No autograd.
TensorRef contiguous(const Tensor& t);
/// t itself if it has the dtype, else a converted copy. No autograd.
TensorRef to_dtype(const Tensor& t, DType dtype);
/// dst[...] = src with broadcasting and conversion. No autograd, no version bump.
void copy_into(Tensor& dst, const Tensor& src);
/// dst[...] = value. No autograd, no version bump.
void fill_into(Tensor& dst, const Scalar& value);
/// Gives t new sizes in place, contiguous, growing the storage if needed.
void resize_into(Tensor& t, IntList sizes);
/// Replaces layout metadata in place (transpose_, squeeze_ and so on).
void set_layout(Tensor& t, IntList sizes, IntList strides, int64_t offset);
inline void bump_version(Tensor& t) { ++*t.version_; }

// ---- helpers about layouts

/// Whether elements of one index lie at one place in both: equal sizes, and equal strides where strides matter.
bool same_layout(const Tensor& a, const Tensor& b);

[[noreturn]] void fail_too_many_dims(size_t n);
/// A short vector of int64 that does not allocate: at most kMaxDims, more is an error.
struct Dims {
  int64_t v[kMaxDims];
  int n = 0;
  Dims() {}
  Dims(IntList list) : n(int(list.size())) {
    if (list.size() > kMaxDims) [[unlikely]]
      fail_too_many_dims(list.size());
    for (int i = 0; i < n; ++i) v[i] = list[i];
  }
  Dims(std::initializer_list<int64_t> list) : Dims(IntList(list.begin(), list.size())) {}
  operator IntList() const { return {v, size_t(n)}; }
  void push(int64_t x) {
    if (n == kMaxDims) [[unlikely]]
      fail_too_many_dims(size_t(n) + 1);
    v[n++] = x;
  }
  int64_t& operator[](int i) { return v[i]; }
  int64_t operator[](int i) const { return v[i]; }
  int64_t* begin() { return v; }
  int64_t* end() { return v + n; }
  int size() const { return n; }
};
/// Row-major strides.
Dims contiguous_strides(IntList sizes);
/// Broadcast shape of two; throws PyTorch's sentence if they don't fit.
Dims broadcast_sizes(IntList a, IntList b);
/// Product of sizes.
int64_t count(IntList sizes);
/// Normalised, checked, as a bit mask; empty or absent means all dims.
uint64_t dim_mask(std::optional<IntList> dims, int64_t ndim);

/// The dtype that `default_dtype` is set to.
extern DType default_dtype;

}  // namespace vivace
