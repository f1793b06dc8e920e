// What stands between the brackets of a[...], taken apart.
#pragma once
#include "bindings/convert.h"

namespace vivace {

struct Index {
  enum Kind : uint8_t { Int, Slice, NewAxis, Ellipsis, Array };  // Array: indices or a mask
  Kind kind;
  bool unsqueezes;  // an Array that takes no dim of its own, but gets one of size 1: True, False, 0-dim masks
  uint8_t ndim;     // dims of the indexed tensor that an Array takes
  union {
    int64_t start;  // of a Slice; the value of an Int
    Tensor* array;
  };
  int64_t stop, step;

  /// The whole of a dim.
  bool is_full_slice() const { return kind == Slice && start == 0 && stop == INT64_MAX && step == 1; }
};

/// One subscript key. Owns the tensors that it had to make.
class IndexKey {
 public:
  /// `ndim`: of the indexed tensor. Throws for keys of other types, and where more dims are named than there are.
  IndexKey(Object* key, int64_t ndim);

  const Index* begin() const { return items_; }
  const Index* end() const { return items_ + count_; }
  int size() const { return count_; }
  const Index& operator[](int i) const { return items_[i]; }
  bool has_arrays() const { return has_arrays_; }
  /// How many dims an Ellipsis stands for.
  int64_t ellipsis_dims() const { return ndim_ - named_dims_; }

 private:
  void add(Object* element);
  void add_slice(Object* slice);
  void add_tensor(Tensor& t);
  void add_truth(bool value);
  void add_sequence(Object* element);
  Index& push(Index::Kind kind);
  void keep(TensorRef t, int ndim, bool unsqueezes);

  Index items_[kMaxDims];
  int count_ = 0;
  int64_t ndim_, named_dims_ = 0;
  bool has_arrays_ = false;
  std::vector<TensorRef> made_;
};

}  // namespace vivace
