// a[key]. Ints, slices, new axes and ellipses become one view where nothing but the backend looks at the call, and a
// chain of select, slice and unsqueeze where autograd or a mode has to see it. Arrays then go to index().
#include "bindings/indexing.h"

#include <algorithm>

#include "bindings/exports.h"
#include "generated/ops/index/select.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/core/saturate.h"

namespace vivace {

namespace {

int64_t wrap_index(int64_t index, int64_t size, int64_t dim) {
  if (index < -size || index >= size) [[unlikely]]
    fail_index("index ", index, " is out of bounds for dimension ", dim, " with size ", size);
  return index < 0 ? index + size : index;
}

struct Range {
  int64_t start, length;
};
Range clamp_slice(const Index& item, int64_t size) {
  int64_t start = item.start < 0 ? item.start + size : item.start;
  int64_t stop = item.stop < 0 ? item.stop + size : item.stop;
  start = std::clamp<int64_t>(start, 0, size);
  stop = std::clamp<int64_t>(stop, start, size);
  return {start, stop > start ? (stop - start - 1) / item.step + 1 : 0};
}

/// Collects one layout; the view is made at the end.
class LayoutWalk {
 public:
  explicit LayoutWalk(Tensor& t)
      : t_(t), size_(t.sizes().data()), stride_(t.strides().data()), offset_(t.storage_offset()) {}

  void select(int64_t index) {
    offset_ += wrap_index(index, size_[in_], in_) * stride_[in_];
    ++in_;
  }
  void slice(const Index& item) {
    const Range range = clamp_slice(item, size_[in_]);
    offset_ += range.start * stride_[in_];
    push(range.length, stepped(stride_[in_], item.step));
    ++in_;
  }
  void new_axis() { push(1, in_ < t_.dim() ? size_[in_] * stride_[in_] : 1); }
  void keep(int64_t n) {
    for (; n > 0; --n, ++in_) push(size_[in_], stride_[in_]);
  }
  TensorRef finish() {
    keep(t_.dim() - in_);
    return make_view(t_, sizes_, strides_, offset_);
  }

 private:
  void push(int64_t size, int64_t stride) {
    if (sizes_.n == kMaxDims) fail_index("too many indices: the result would have more than ", kMaxDims, " dimensions");
    sizes_.push(size);
    strides_.push(stride);
  }
  Tensor& t_;
  const int64_t *size_, *stride_;
  int64_t offset_;
  int64_t in_ = 0;
  Dims sizes_, strides_;
};

/// The same, by operators, so that they are recorded.
class OperatorWalk {
 public:
  explicit OperatorWalk(Tensor& t) : t_(TensorRef::share(&t)) {}

  void select(int64_t index) {
    wrap_index(index, t_->sizes()[size_t(out_)], dims_);
    t_ = ops::select_int(*t_, out_, index);
    ++dims_;
  }
  void slice(const Index& item) {
    if (!item.is_full_slice()) t_ = ops::slice_Tensor(*t_, out_, item.start, item.stop, item.step);
    ++out_, ++dims_;
  }
  void new_axis() { t_ = ops::unsqueeze(*t_, out_++); }
  void keep(int64_t n) { out_ += n, dims_ += n; }
  TensorRef finish() { return t_; }

 private:
  TensorRef t_;
  int64_t out_ = 0, dims_ = 0;
};

template <class Walk>
TensorRef walk_key(Walk walk, const IndexKey& key, ArrayList* arrays) {
  int64_t ellipsis = key.ellipsis_dims();
  auto plain_dims = [&](int64_t n) {
    for (; arrays && n > 0; --n) arrays->push(nullptr);
  };
  for (const Index& item : key) {
    switch (item.kind) {
      case Index::Int:
        walk.select(item.start);
        break;
      case Index::Slice:
        walk.slice(item);
        plain_dims(1);
        break;
      case Index::NewAxis:
        walk.new_axis();
        plain_dims(1);
        break;
      case Index::Ellipsis:  // a second one stands for nothing
        walk.keep(ellipsis);
        plain_dims(ellipsis);
        ellipsis = 0;
        break;
      case Index::Array:
        if (item.unsqueezes) {
          walk.new_axis();
        } else {
          walk.keep(item.ndim);
        }
        arrays->push(item.array);
    }
  }
  return walk.finish();
}

/// Whether a key neither moves nor drops nor adds elements or dims; arrays aside.
bool keeps_layout(const IndexKey& key) {
  for (const Index& item : key) {
    const bool plain_array = item.kind == Index::Array && !item.unsqueezes;
    if (!plain_array && item.kind != Index::Ellipsis && !item.is_full_slice()) return false;
  }
  return true;
}

/// Takes part in walk_key where there is nothing to apply.
struct NoWalk {
  Tensor& t;
  void select(int64_t) {}
  void slice(const Index&) {}
  void new_axis() {}
  void keep(int64_t) {}
  TensorRef finish() { return TensorRef::share(&t); }
};

Object* select_first(Tensor& t, int64_t index) {
  const int n = t.ndim_;
  const int64_t *size = t.sizes().data(), *stride = t.strides().data();
  const int64_t at = wrap_index(index, size[0], 0);
  return make_view(t, {size + 1, size_t(n - 1)}, {stride + 1, size_t(n - 1)}, t.storage_offset() + at * stride[0])
      .release();
}

}  // namespace

TensorRef apply_basic(Tensor& t, const IndexKey& key, ArrayList* arrays) {
  if (keeps_layout(key)) return walk_key(NoWalk{t}, key, arrays);
  if (makes_plain_views(t)) return walk_key(LayoutWalk(t), key, arrays);
  return walk_key(OperatorWalk(t), key, arrays);
}

Object* tensor_subscript(Object* self, Object* key) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_of(self);
    if (PyLong_CheckExact(key) && t.dim() > 0 && makes_plain_views(t)) {
      int overflow;
      const int64_t index = PyLong_AsLongLongAndOverflow(key, &overflow);
      if (!overflow) [[likely]]
        return select_first(t, index);
    }
    const IndexKey items(key, t.dim());
    if (!items.has_arrays()) {
      if (makes_plain_views(t)) return walk_key(LayoutWalk(t), items, nullptr).release();
      if (!keeps_layout(items)) return walk_key(OperatorWalk(t), items, nullptr).release();
      if (items.size() == 1 && items[0].kind == Index::Slice) return ops::slice_Tensor(t, 0).release();
      return ops::alias(t).release();
    }
    ArrayList arrays;
    const TensorRef basic = apply_basic(t, items, &arrays);
    return ops::index_Tensor(*basic, arrays).release();
  });
}

Object* tensor_sequence_item(Object* self, Py_ssize_t index) {
  auto key = Ref<Object>::steal(PyLong_FromSsize_t(index));
  return key ? tensor_subscript(self, key.get()) : nullptr;
}

}  // namespace vivace
