// torch.UntypedStorage: the memory that tensors share, as an object. The same storage gives the same object as long as
// the object lives, and an object that is watched or has attributes lives as long as the memory.
// What needs no access to memory is written in vivace/storage.py.
#include "bindings/exports.h"

#include <structmember.h>

#include <cstddef>

#include "bindings/keywords.h"
#include "bindings/memory.h"
#include "bindings/override.h"
#include "bindings/tensor_attributes.h"
#include "runtime/autograd/grad.h"
#include "runtime/core/shared_memory.h"
#include "runtime/core/storage_object.h"

namespace vivace {

namespace {

struct StorageObject : Object {
  Storage* storage;  // owned
  Object* weakrefs;
  Object* dict;
  int views;       // memoryviews; while there are any the storage keeps its place
  bool resizable;  // as it was before
};

PyTypeObject* storage_type = nullptr;

StorageObject* object_of(Object* self) { return static_cast<StorageObject*>(self); }
Storage& storage_of(Object* self) { return *object_of(self)->storage; }

/// Takes over a reference to the storage.
Object* new_storage_object(PyTypeObject* type, Storage* owned) {
  Object* self = type->tp_alloc(type, 0);
  if (!self) {
    release(owned);
    throw PythonError{};
  }
  object_of(self)->storage = owned;
  owned->python = self;
  return self;
}

Object* wrap_storage_object(Storage& s) {
  if (s.python) return Py_NewRef(s.python);
  if (Object* kept = take_object(s)) return kept;
  retain(&s);
  return new_storage_object(storage_type, &s);
}

Storage& storage_argument(const char* function, Object* object) {
  if (!PyObject_TypeCheck(object, storage_type))
    fail_type(function, "() expects an UntypedStorage, not ", Py_TYPE(object)->tp_name);
  return storage_of(object);
}

/// UntypedStorage(nbytes=0, device=None): uninitialised bytes.
Object* storage_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&] {
    static constexpr Signature signature = {"UntypedStorage", 1, 0, {"size", "device"}};
    Object* a[2];
    sort_arguments(signature, args, kwargs, a);
    const auto device = device_argument("UntypedStorage", a[1]);
    const int64_t nbytes = int_argument("UntypedStorage", "size", a[0], 0);
    if (nbytes < 0) fail("UntypedStorage(): the size must not be negative, got ", nbytes);
    if (device && device->type == DeviceType::PrivateUse) {
      const TensorRef over = empty({nbytes}, DType::UInt8, *device);
      retain(over->storage_);
      return new_storage_object(type, over->storage_);
    }
    return new_storage_object(type, allocate_storage(size_t(nbytes), device.value_or(Device{})));
  });
}

int storage_traverse(Object* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object_of(self)->dict);
  return 0;
}

int storage_clear(Object* self) {
  Py_CLEAR(object_of(self)->dict);
  return 0;
}

/// Whether the program could tell another object over the same memory from this one.
bool is_remembered(StorageObject* self) {
  return Py_TYPE(self) == storage_type && (self->weakrefs || (self->dict && PyDict_GET_SIZE(self->dict) > 0));
}

void storage_dealloc(Object* self) {
  if (Storage* s = object_of(self)->storage; s && s->refcount > 1 && is_remembered(object_of(self))) {
    Py_SET_REFCNT(self, 1);
    keep_object(*s, self);
    return;
  }
  PyObject_GC_UnTrack(self);
  if (object_of(self)->weakrefs) PyObject_ClearWeakRefs(self);
  storage_clear(self);
  if (Storage* s = object_of(self)->storage) {
    s->python = nullptr;
    release(s);
  }
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// A memoryview keeps the storage alive, and where it is.
int get_buffer(Object* self, Py_buffer* view, int flags) {
  return guarded_or(-1, [&] {
    Storage& s = storage_of(self);
    if (s.device.type != DeviceType::CPU)
      fail("the memory of storages on the ", name(s.device.type), " device can't be read");
    static char nothing;
    checked(PyBuffer_FillInfo(view, self, s.nbytes ? s.data : &nothing, Py_ssize_t(s.nbytes), 0, flags));
    if (object_of(self)->views++ == 0) object_of(self)->resizable = std::exchange(s.resizable, false);
    return 0;
  });
}
void release_buffer(Object* self, Py_buffer*) {
  if (--object_of(self)->views == 0) storage_of(self).resizable = object_of(self)->resizable;
}

Py_ssize_t length(Object* self) { return Py_ssize_t(storage_of(self).nbytes); }

Object* nbytes(Object* self, Object*) { return PyLong_FromSize_t(storage_of(self).nbytes); }
Object* data_ptr(Object* self, Object*) {
  return PyLong_FromVoidPtr(storage_of(self).nbytes ? storage_of(self).data : nullptr);
}
Object* resizable(Object* self, Object*) { return PyBool_FromLong(storage_of(self).resizable); }
Object* is_shared_storage(Object* self, Object*) { return PyBool_FromLong(is_shared(storage_of(self))); }
Object* get_address(Object* self, void*) { return PyLong_FromVoidPtr(object_of(self)->storage); }
Object* get_device(Object* self, void*) {
  return guarded([&] { return wrap(storage_of(self).device); });
}

Object* resize(Object* self, Object* size) {
  return guarded([&] {
    int64_t wanted;
    if (!unwrap_int(size, &wanted) || wanted < 0) fail_type("resize_() expects a number of bytes");
    resize_storage(&storage_of(self), size_t(wanted));
    return Py_NewRef(self);
  });
}

/// _new_shared(nbytes): a storage in fresh shared memory.
Object* new_shared(Object* type, Object* size) {
  return guarded([&] {
    int64_t nbytes;
    if (!unwrap_int(size, &nbytes) || nbytes < 0) fail_type("_new_shared() expects a number of bytes");
    return new_storage_object(reinterpret_cast<PyTypeObject*>(type), allocate_shared(size_t(nbytes)));
  });
}
/// _open_shared(name, nbytes): a storage that another process has lent.
Object* open_shared_storage(Object* type, Object* args) {
  const char* name;
  Py_ssize_t nbytes;
  if (!PyArg_ParseTuple(args, "sn:_open_shared", &name, &nbytes)) return nullptr;
  return guarded(
      [&] { return new_storage_object(reinterpret_cast<PyTypeObject*>(type), open_shared(name, size_t(nbytes))); });
}
Object* lend(Object* self, Object*) {
  return guarded([&] {
    if (!is_shared(storage_of(self))) fail("_lend(): the storage is not in shared memory");
    const std::string name = lend_shared(storage_of(self));
    return name.empty() ? Py_NewRef(Py_None) : checked(PyUnicode_FromString(name.c_str()));
  });
}

PyMethodDef storage_methods[] = {
    {"nbytes", nbytes, METH_NOARGS, "Number of bytes."},
    {"size", nbytes, METH_NOARGS, "Number of bytes."},
    {"data_ptr", data_ptr, METH_NOARGS, "Address of the first byte."},
    {"resizable", resizable, METH_NOARGS, "Whether the storage can change its size."},
    {"is_shared", is_shared_storage, METH_NOARGS, "Whether other processes can share the memory."},
    {"_new_shared", new_shared, METH_O | METH_CLASS, "A storage in fresh shared memory."},
    {"_open_shared", open_shared_storage, METH_VARARGS | METH_CLASS, "A storage that another process has lent."},
    {"_lend", lend, METH_NOARGS, "The name by which another process opens the memory, once; None if it has none."},
    {"resize_", resize, METH_O, "resize_(nbytes): changes the size and keeps the leading bytes."},
    kNoMethod,
};

PyGetSetDef storage_attributes[] = {
    attribute("_cdata", get_address),
    attribute("device", get_device),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    kNoAttribute,
};

PyMemberDef storage_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(StorageObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(StorageObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyTypeObject* make_storage_type(Object* module) {
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(storage_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(storage_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(storage_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(storage_clear)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_tp_methods, storage_methods},
      {Py_tp_getset, storage_attributes},
      {Py_tp_members, storage_members},
      {0, nullptr},
  };
  PyType_Spec spec = {"vivace.storage.StorageBase", int(sizeof(StorageObject)), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC), slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

// ---- tensors and storages

/// Throws where a layout reaches beyond the storage.
void check_fits(const Storage& s, DType dtype, int64_t offset, IntList sizes, IntList strides) {
  if (sizes.size() != strides.size()) fail("a tensor needs as many strides as sizes");
  count(sizes);  // throws if there are too many
  __int128 last = offset;
  bool is_empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) fail("sizes and strides must not be negative");
    is_empty |= sizes[d] == 0;
    last += __int128(sizes[d] - 1) * strides[d];
  }
  if (offset < 0 || (!is_empty && (last + 1) * __int128(item_size(dtype)) > __int128(s.nbytes)))
    fail("a tensor of sizes ", sizes, ", strides ", strides, " and offset ", offset, " does not fit into a storage of ",
         s.nbytes, " bytes");
}

struct Layout {
  Storage* storage;
  int64_t offset;
  Dims sizes, strides;
};

Layout layout_argument(const char* function, DType dtype, Object* const* args) {
  Layout l;
  l.storage = &storage_argument(function, args[0]);
  if (!unwrap_int(args[1], &l.offset) || !unwrap_ints(args[2], &l.sizes) || !unwrap_ints(args[3], &l.strides))
    fail_type(function, " expects a storage, an offset, sizes and strides");
  check_fits(*l.storage, dtype, l.offset, l.sizes, l.strides);
  return l;
}

TensorRef tensor_of_layout(const Layout& l, DType dtype) {
  retain(l.storage);
  return vivace::tensor_over(l.storage, dtype, l.sizes, l.strides, l.offset);
}

/// _tensor_over(dtype, storage, offset, size, stride): a tensor over a storage.
Object* tensor_over_storage(Object*, Object* const* args, Py_ssize_t n) {
  return guarded([&] {
    DType dtype;
    if (n != 5 || !unwrap_dtype(args[0], &dtype))
      fail_type("_tensor_over expects a dtype, a storage, an offset, sizes and strides");
    return static_cast<Object*>(tensor_of_layout(layout_argument("_tensor_over", dtype, args + 1), dtype).release());
  });
}

/// _set(tensor, storage, offset, size, stride): lets the tensor be what _tensor_over would make.
Object* set_storage(Object*, Object* const* args, Py_ssize_t n) {
  return guarded([&] {
    if (n != 5 || !is_tensor(args[0])) fail_type("_set expects a tensor, a storage, an offset, sizes and strides");
    Tensor& t = tensor_of(args[0]);
    if (t.requires_grad() && tls.grad_mode)
      fail("set_(): a leaf Variable that requires grad is being used in an in-place operation.");
    const Layout l = layout_argument("set_", t.dtype(), args + 1);
    assume_data(t, *tensor_of_layout(l, t.dtype()));
    bump_version(t);
    return Py_NewRef(args[0]);
  });
}

Object* untyped_storage(Object* self, Object*) {
  return guarded([&] { return wrap_storage_object(*tensor_of(self).storage_); });
}

/// Whose memory a tensor shares, if that is a tensor at the root of its view.
Tensor* base_of(const Tensor& t) { return t.base && t.base->storage_ == t.storage_ ? t.base : nullptr; }

void move_to_shared_memory(Tensor& t) {
  Tensor* base = base_of(t);
  const int64_t offset = t.storage_offset(), base_offset = base ? base->storage_offset() : 0;
  share(*t.storage_, base ? 2 : 1);
  set_layout(t, Dims(t.sizes()), Dims(t.strides()), offset);
  if (base) set_layout(*base, Dims(base->sizes()), Dims(base->strides()), base_offset);
}

Object* share_memory(Object* self, Object*) {
  return guarded([&] {
    if (tensor_of(self).device().type != DeviceType::PrivateUse) move_to_shared_memory(tensor_of(self));
    return Py_NewRef(self);
  });
}

/// _move_to_shared_memory(tensor): share_memory_() where it does not throw; whether the memory is shared now.
Object* move_if_possible(Object*, Object* tensor) {
  return guarded([&] {
    if (!is_tensor(tensor)) fail_type("_move_to_shared_memory() expects a tensor");
    Tensor& t = tensor_of(tensor);
    const bool can = t.device().type == DeviceType::CPU && can_share(*t.storage_, base_of(t) ? 2 : 1);
    if (can) move_to_shared_memory(t);
    return PyBool_FromLong(can);
  });
}

/// _set_storage_type(type): the subclass that untyped_storage() gives.
Object* set_storage_type(Object*, Object* type) {
  storage_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
}

/// _empty_cache(): gives back the large blocks that are kept for later; how many bytes. For programs that measure
/// memory.
Object* give_back_cached(Object*, Object*) { return PyLong_FromSize_t(empty_cache()); }

Object* leave_shared(Object*, Object*) {
  return guarded([] {
    leave_shared_memory();
    return Py_NewRef(Py_None);
  });
}

PyMethodDef functions[] = {
    {"_move_to_shared_memory", move_if_possible, METH_O, "share_memory_() where nothing else uses the memory."},
    {"_leave_shared_memory", leave_shared, METH_NOARGS, "This process ends and uses no shared memory any more."},
    fast_function("_tensor_over", tensor_over_storage, "A tensor over a storage."),
    fast_function("_set", set_storage, "Gives a tensor another storage and layout."),
    {"_set_storage_type", set_storage_type, METH_O, "Sets the class of storages."},
    {"_empty_cache", give_back_cached, METH_NOARGS, "Gives back the large blocks that are kept; how many bytes."},
    kNoMethod,
};

}  // namespace

PyMethodDef kStorageMethods[] = {
    tensor_method<"untyped_storage", untyped_storage>(METH_NOARGS, "The memory that the tensor lies in."),
    tensor_method<"share_memory_", share_memory>(METH_NOARGS, "Moves the elements to memory that processes can share."),
    kNoMethod,
};

void init_storages(Object* module) {
  checked(PyModule_AddFunctions(module, functions));
  storage_type = make_storage_type(module);
  checked(PyModule_AddObjectRef(module, "_StorageBase", reinterpret_cast<Object*>(storage_type)));
}

}  // namespace vivace
