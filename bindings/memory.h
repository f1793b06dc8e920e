// Tensors over memory that something else owns.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

/// A tensor that is the only user of `storage` (whose reference it takes over). `offset` counts elements.
TensorRef tensor_over(Storage* storage, DType dtype, IntList sizes, IntList strides, int64_t offset);

/// Elements from the first to the last that a layout reaches, counted; 0 for no elements.
int64_t layout_extent(IntList sizes, IntList strides);

/// Keeps a Python object alive as long as a storage lives: `wrap_storage(data, n, release_object, Py_NewRef(object))`.
void release_object(void* object);

}  // namespace vivace
