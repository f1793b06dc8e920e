// Subscripts as operations on tensors.
#pragma once
#include "bindings/index_key.h"
#include "runtime/autograd/view.h"

namespace vivace {

/// Whether a view of t may be made without the dispatcher: no key, mode or stale history asks for more.
inline bool makes_plain_views(const Tensor& t) {
  return (t.keys & ~(bit(Key::CPU) | bit(Key::Meta) | bit(Key::View))) == 0 && tls.include == 0 && !view_is_stale(t);
}

/// For each dim of what is indexed null or an array; a mask stands once for all its dims.
class ArrayList {
 public:
  void push(Tensor* array) {
    if (count_ == kMaxDims) fail_index("too many indices: the result would have more than ", kMaxDims, " dimensions");
    items_[count_++] = array;
  }
  operator TensorList() const { return {items_, size_t(count_)}; }

 private:
  Tensor* items_[kMaxDims];
  int count_ = 0;
};

/// Applies the ints, slices and new axes of a key; arrays are collected and leave their dims as they are. The result is
/// t itself if there is nothing to apply.
TensorRef apply_basic(Tensor& t, const IndexKey& key, ArrayList* arrays);

}  // namespace vivace
