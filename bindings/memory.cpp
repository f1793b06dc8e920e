// Tensors over memory that something else owns; see memory.h.
#include "bindings/memory.h"

namespace vivace {

TensorRef tensor_over(Storage* storage, DType dtype, IntList sizes, IntList strides, int64_t offset) {
  TensorRef t = empty({0}, dtype, storage->device);
  release(t->storage_);
  t->storage_ = storage;
  t->version_ = &storage->version;
  set_layout(*t, sizes, strides, offset);
  return t;
}

int64_t layout_extent(IntList sizes, IntList strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

void release_object(void* object) { Py_DECREF(static_cast<Object*>(object)); }

}  // namespace vivace
