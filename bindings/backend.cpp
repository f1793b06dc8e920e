// See backend.h.
#include "bindings/backend.h"

#include <cstring>
#include <string_view>

#include "bindings/convert.h"
#include "bindings/keywords.h"
#include "bindings/native_kernel.h"
#include "bindings/python_op.h"
#include "bindings/tables.h"
#include "runtime/core/foreign_memory.h"
#include "runtime/dispatch/backend.h"
#include "runtime/dispatch/foreign.h"

namespace vivace {
namespace {

bool claimed = false, renamed = false;
int8_t current_device = 0;
Object* allocate_function = nullptr;  // allocate(nbytes, device index) -> address, in Python
Object* free_function = nullptr;      // free(address, nbytes)
Object* fallback_function = nullptr;  // fallback(overload, *args, **kwargs)

// ---- memory from an allocator written in Python

struct Block {
  Ref<Object> free;
  void* address;
  size_t nbytes;
};

void free_block(void* context) {
  Block* block = static_cast<Block*>(context);
  if (Py_IsInitialized()) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Object* done =
        PyObject_CallFunction(block->free.get(), "Nn", PyLong_FromVoidPtr(block->address), Py_ssize_t(block->nbytes));
    if (!done) PyErr_WriteUnraisable(block->free.get());
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
  } else {
    (void)block->free.release();  // with the interpreter went what it points to
  }
  delete block;
}

Storage* allocate(size_t nbytes, Device device) {
  Storage* s;
  if (nbytes == 0) {
    s = wrap_storage(nullptr, 0, nullptr, nullptr);
  } else {
    const auto address = Ref<Object>::steal(
        checked(PyObject_CallFunction(allocate_function, "ni", Py_ssize_t(nbytes), int(device.index))));
    void* data = PyLong_Check(address.get()) ? PyLong_AsVoidPtr(address.get()) : nullptr;
    if (PyErr_Occurred()) throw PythonError{};
    if (!data) fail_type("the backend's allocator has to return an address other than 0, as an int");
    s = wrap_storage(data, nbytes, free_block, new Block{Ref<Object>::share(free_function), data, nbytes});
  }
  s->device = device;
  s->resizable = true;
  return s;
}

Object* set_allocator(Object*, Object* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyCallable_Check(args[0]) || !PyCallable_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "_set_backend_allocator(allocate, free) takes two functions");
    return nullptr;
  }
  claimed = true;
  Object* old[] = {std::exchange(allocate_function, Py_NewRef(args[0])),
                   std::exchange(free_function, Py_NewRef(args[1]))};
  for (Object* o : old) Py_XDECREF(o);
  backend_hooks.allocate = allocate;
  Py_RETURN_NONE;
}

/// _create_backend_tensor(size, dtype): a tensor whose elements are what Python makes of it.
Object* create_tensor(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> Object* {
    Dims sizes;
    DType dtype;
    if (nargs != 2 || !unwrap_ints(args[0], &sizes) || !unwrap_dtype(args[1], &dtype))
      fail_type("create_empty_tensor(size, dtype) takes a sequence of ints and a torch.dtype");
    for (const int64_t s : sizes)
      if (s < 0) fail("Trying to create tensor with negative dimension ", s, ": ", IntList(sizes));
    claimed = true;
    const Device device = backend_device(-1);
    Storage* mark = wrap_storage(nullptr, 0, nullptr, nullptr);
    mark->device = device;
    return over_storage(sizes, contiguous_strides(sizes), dtype, device, mark).release();
  });
}

// ---- the fallback

Object* call_fallback(const Op& op, Value* args) { return call_with_python_arguments(fallback_function, op, args); }

/// None takes it away; what was there before.
Object* set_fallback(Object*, Object* function) {
  return guarded([&]() -> Object* {
    ready_backend_kernels();
    Object* old = std::exchange(fallback_function, function == Py_None ? nullptr : Py_NewRef(function));
    backend_hooks.fallback = fallback_function ? call_fallback : nullptr;
    return old ? old : Py_NewRef(Py_None);
  });
}

bool takes_numbers(const Op& op) {
  const PythonOp* extended = find_python_op(op);
  Object* function = extended ? extended->kernels[int(Key::PrivateUse)] : nullptr;
  return function && function != Py_None && !is_native_kernel(function);
}

// ---- names and devices

Object* rename(Object*, Object* name) {
  return guarded([&]() -> Object* {
    const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (!text) fail_type("_rename_privateuse1_backend(): the name must be a str, not ", Py_TYPE(name)->tp_name);
    if (renamed && std::string_view(text) != backend_name())
      fail("torch.register_privateuse1_backend() has already been set! Current backend: ", backend_name());
    if (!renamed) set_backend_name(strdup(text));
    renamed = claimed = true;
    Py_RETURN_NONE;
  });
}
Object* get_name(Object*, Object*) { return PyUnicode_FromString(backend_name()); }
Object* is_claimed(Object*, Object*) { return PyBool_FromLong(claimed); }
Object* claim(Object*, Object*) {
  claimed = true;
  Py_RETURN_NONE;
}

Object* has_plain_memory(Object*, Object* tensor) {
  return PyBool_FromLong(is_tensor(tensor) && !is_foreign(tensor_of(tensor).keys));
}

Object* get_device_index(Object*, Object*) { return PyLong_FromLong(current_device); }
Object* set_device_index(Object*, Object* index) {
  return guarded([&]() -> Object* {
    int64_t wanted;
    if (!unwrap_int(index, &wanted) || wanted < 0 || wanted > 127) fail("Invalid device index");
    current_device = int8_t(wanted);
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    fast_function("_set_backend_allocator", set_allocator,
                  "_set_backend_allocator(allocate, free): where the private backend's memory comes from."),
    fast_function("_create_backend_tensor", create_tensor, nullptr),
    {"_set_backend_fallback", set_fallback, METH_O, "Sets what runs where the private backend has no kernel."},
    {"_rename_privateuse1_backend", rename, METH_O, "Names the private backend, once."},
    {"_get_privateuse1_backend_name", get_name, METH_NOARGS, "What the private backend is called."},
    {"_backend_is_claimed", is_claimed, METH_NOARGS, "Whether a program has a private backend."},
    {"_claim_backend", claim, METH_NOARGS, "Says that a program has a private backend."},
    {"_has_plain_memory", has_plain_memory, METH_O, "Whether native code may touch a tensor's memory."},
    {"_backend_device_index", get_device_index, METH_NOARGS, "The device of the private backend that is in use."},
    {"_set_backend_device_index", set_device_index, METH_O, nullptr},
    kNoMethod,
};

}  // namespace

bool backend_is_claimed() { return claimed; }

const char* backend_name() { return name(DeviceType::PrivateUse); }

void ready_backend_kernels() {
  static const bool once = [] {
    install_backend();
    backend_hooks.takes_numbers = takes_numbers;
    for (Op* op : all_ops())
      if (op->table.keys & bit(Key::PrivateUse))
        set_own_kernel(*op, Key::PrivateUse, op->table.kernels[int(Key::PrivateUse)]);
    return true;
  }();
  (void)once;
}

Device backend_device(int8_t index) {
  static const bool once = [] {
    ready_backend_kernels();
    Ref<Object>::steal(checked(PyImport_ImportModule("vivace._backend")));  // defines _copy_from
    backend_hooks.copy_from = find_qualified("aten::_copy_from");
    foreign_tensors_exist = true;
    return true;
  }();
  (void)once;
  return {DeviceType::PrivateUse, index < 0 ? current_device : index};
}

void init_backend(Object* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace vivace
