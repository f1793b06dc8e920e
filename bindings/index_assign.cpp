// a[key] = value. A single element is written at once where nobody looks; views are filled or copied to; arrays go to
// index_put_.
#include "bindings/exports.h"
#include "bindings/indexing.h"
#include "bindings/python_dispatch.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/index/select.h"
#include "generated/ops/view/parts.h"
#include "runtime/dispatch/keys.h"
#include "runtime/kernels/copy.h"

namespace vivace {

namespace {

/// A number or a tensor.
struct Source {
  Tensor* tensor = nullptr;
  Scalar scalar;
  TensorRef number = {};  // the scalar as a tensor, which is what a mode sees of it
};

Source source_of(const Tensor& destination, Object* value) {
  Source source;
  if (is_tensor(value)) {
    source.tensor = &tensor_of(value);
  } else if (unwrap_scalar(value, &source.scalar)) {
    // Refuses values that don't fit before anything is written.
    char scratch[16];
    kernels::store_scalar(destination.dtype(), scratch, source.scalar);
  } else {
    fail_type("can't assign a ", Py_TYPE(value)->tp_name, " to a torch.", scalar_type_name(destination.dtype()),
              "Tensor");
  }
  return source;
}

/// Where the element lies that ints alone name; null for other keys.
char* element_address(const Tensor& t, const IndexKey& key) {
  if (key.size() != t.dim() || t.is_meta() || is_foreign(t.keys)) return nullptr;
  int64_t offset = 0;
  for (int d = 0; d < key.size(); ++d) {
    if (key[d].kind != Index::Int) return nullptr;
    const int64_t i = key[d].start, n = t.sizes()[size_t(d)];
    if (i < -n || i >= n) return nullptr;  // reported by the general path
    offset += (i < 0 ? i + n : i) * t.strides()[size_t(d)];
  }
  return t.raw() + offset * int64_t(t.item_size());
}

/// Drops leading dims of size 1 until at most `ndim` are left: PyTorch lets a value have more of them than its place.
TensorRef drop_leading_dims(Tensor& value, int64_t ndim) {
  TensorRef result = TensorRef::share(&value);
  while (result->dim() > ndim && result->sizes()[0] == 1) result = ops::select_int(*result, 0, 0);
  return result;
}

void assign(Tensor& place, const Source& source) {
  if (source.tensor) {
    ops::copy_(place, *drop_leading_dims(*source.tensor, place.dim()));
  } else if (!source.number) {
    ops::fill__Scalar(place, source.scalar);
  } else if (place.dim() == 0) {
    ops::copy_(place, *source.number);
  } else {
    ops::fill__Tensor(place, *source.number);
  }
}

void assign_to_key(Tensor& t, const IndexKey& key, const Source& source) {
  if (!key.has_arrays()) {
    if (!source.tensor && makes_plain_views(t) && t.dim() > 0) {
      if (char* element = element_address(t, key)) {
        kernels::store_scalar(t.dtype(), element, source.scalar);
        bump_version(t);
        return;
      }
    }
    assign(*apply_basic(t, key, nullptr), source);
    return;
  }
  ArrayList arrays;
  const TensorRef place = apply_basic(t, key, &arrays);
  const TensorRef values = source.tensor   ? drop_leading_dims(*source.tensor, 0)
                           : source.number ? source.number
                                           : scalar_tensor(source.scalar, t.dtype(), t.device());
  ops::index_put_(*place, arrays, *values);
}

}  // namespace

int tensor_ass_subscript(Object* self, Object* key, Object* value) {
  return guarded_or(-1, [&] {
    Tensor& t = tensor_of(self);
    if (!value) fail_type("Tensor does not support deleting items");
    Source source = source_of(t, value);
    if (!source.tensor && mode_is_on()) [[unlikely]]
      source.number = lifted(scalar_tensor(source.scalar, t.dtype(), t.device()));
    if (key == Py_False) return 0;
    if (key == Py_True || key == Py_Ellipsis) {
      assign(t, source);
      return 0;
    }
    assign_to_key(t, IndexKey(key, t.dim()), source);
    return 0;
  });
}

}  // namespace vivace
