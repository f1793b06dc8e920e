// What saving and loading needs of storages: their identity, their bytes, and tensors over them.
#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

Tensor& tensor_argument(const char* function, Object* object) {
  if (!is_tensor(object)) fail_type(function, " expects a tensor, but got ", Py_TYPE(object)->tp_name);
  Tensor& t = *static_cast<Tensor*>(object);
  if (t.is_meta()) fail(function, ": a tensor on the meta device has no storage");
  return t;
}

Object* storage_key(Object*, Object* tensor) {
  return guarded([&] { return PyLong_FromVoidPtr(tensor_argument("_storage_key", tensor).storage_); });
}

/// Valid while the tensor lives.
Object* storage_bytes(Object*, Object* tensor) {
  return guarded([&] {
    const Storage* s = tensor_argument("_storage_bytes", tensor).storage_;
    static char nothing;
    return PyMemoryView_FromMemory(s->nbytes ? s->data : &nothing, Py_ssize_t(s->nbytes), PyBUF_WRITE);
  });
}

/// _tensor_over(tensor, dtype, offset, size, stride): another tensor over the same storage; throws where it would reach
/// beyond.
Object* tensor_over(Object*, Object* const* args, Py_ssize_t n) {
  return guarded([&] {
    DType dtype;
    int64_t offset;
    Dims sizes, strides;
    if (n != 5 || !unwrap_dtype(args[1], &dtype) || !unwrap_int(args[2], &offset) || !unwrap_ints(args[3], &sizes) ||
        !unwrap_ints(args[4], &strides))
      fail_type("_tensor_over expects a tensor, a dtype, an offset, sizes and strides");
    Storage* storage = tensor_argument("_tensor_over", args[0]).storage_;
    if (sizes.size() != strides.size()) fail("a tensor needs as many strides as sizes");
    count(sizes);  // throws if there are too many
    __int128 last = offset;
    bool is_empty = false;
    for (int d = 0; d < sizes.size(); ++d) {
      if (sizes[d] < 0 || strides[d] < 0) fail("sizes and strides must not be negative");
      is_empty |= sizes[d] == 0;
      last += __int128(sizes[d] - 1) * strides[d];
    }
    if (offset < 0 || (!is_empty && (last + 1) * __int128(item_size(dtype)) > __int128(storage->nbytes)))
      fail("a tensor of sizes ", IntList(sizes), ", strides ", IntList(strides), " and offset ", offset,
           " does not fit into a storage of ", storage->nbytes, " bytes");
    TensorRef t = empty({0}, dtype);
    retain(storage);
    release(t->storage_);
    t->storage_ = storage;
    t->version_ = &storage->version;
    set_layout(*t, sizes, strides, is_empty ? 0 : offset);
    return static_cast<Object*>(t.release());
  });
}

PyMethodDef functions[] = {
    {"_storage_key", storage_key, METH_O, "A number that tensors over one storage share."},
    {"_storage_bytes", storage_bytes, METH_O, "The bytes of a tensor's storage, as a view that may be written to."},
    fast_function("_tensor_over", tensor_over, "Another tensor over a tensor's storage."),
    kNoMethod,
};

}  // namespace

void init_storages(Object* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace vivace
