// The stack of saved-tensor hooks, and the object that stands in a node for a tensor that a hook packed.
#include "bindings/saved_hooks.h"

#include <string>

#include "bindings/convert.h"
#include "runtime/autograd/grad.h"

namespace vivace {
namespace {

thread_local SavedHooksStack stack;
thread_local std::string disabled;  // why no hooks may be set; empty: they may

/// What a pack hook returned, and the hook that turns it back.
struct Packed : Object {
  Object* value;
  Object* unpack;
};
Packed& as_packed(Object* o) { return *static_cast<Packed*>(o); }

PyTypeObject packed_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

int packed_traverse(Object* self, visitproc visit, void* arg) {
  Py_VISIT(as_packed(self).value);
  Py_VISIT(as_packed(self).unpack);
  return 0;
}

int packed_clear(Object* self) {
  Py_CLEAR(as_packed(self).value);
  Py_CLEAR(as_packed(self).unpack);
  return 0;
}

void packed_dealloc(Object* self) {
  PyObject_GC_UnTrack(self);
  packed_clear(self);
  PyObject_GC_Del(self);
}

Object* call_without_grad(Object* function, Object* argument) {
  const GradModeGuard no_grad(false);
  return checked(PyObject_CallOneArg(function, argument));
}

Object* pack(Tensor& t) {
  const SavedHooks hooks = stack.back();
  const uint32_t version = *t.version_;
  auto value = Ref<Object>::steal(call_without_grad(hooks.pack.object(), &t));
  if (*t.version_ != version)
    fail(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
        "modified by in-place operations as this can lead to unexpected side-effects.");
  auto* packed = PyObject_GC_New(Packed, &packed_type);
  if (!packed) throw PythonError{};
  packed->value = value.release();
  packed->unpack = Py_NewRef(hooks.unpack.object());
  PyObject_GC_Track(packed);
  return packed;
}

TensorRef unpack(Object* o) {
  const auto owner = Ref<Object>::share(o);
  Object* function = as_packed(o).unpack;
  if (!function) fail("what a saved tensor was packed into has been freed");
  auto result = Ref<Object>::steal(checked(PyObject_CallOneArg(function, as_packed(o).value)));
  if (!is_tensor(result.object()))
    fail_type("Output of saved tensor unpack_hook expected to be a Tensor but got result of type ",
              Py_TYPE(result.object())->tp_name);
  return TensorRef::steal(&tensor_of(result.release()));
}

/// The layer is on while there are hooks.
void update_layer() {
  tls.include = stack.empty() ? tls.include & ~bit(Key::SavedHooks) : tls.include | bit(Key::SavedHooks);
}

Object* push(Object*, Object* args) {
  Object *pack_hook, *unpack_hook;
  if (!PyArg_ParseTuple(args, "OO:_push_saved_hooks", &pack_hook, &unpack_hook)) return nullptr;
  return guarded([&]() -> Object* {
    if (!disabled.empty()) fail(disabled);
    stack.push_back({Ref<Object>::share(pack_hook), Ref<Object>::share(unpack_hook)});
    update_layer();
    Py_RETURN_NONE;
  });
}

Object* pop(Object*, Object*) {
  return guarded([&]() -> Object* {
    if (stack.empty()) fail("there are no saved-tensor hooks to remove");
    const SavedHooks last = std::move(stack.back());
    stack.pop_back();
    update_layer();
    Py_RETURN_NONE;
  });
}

/// Returns what was set before, None for nothing.
Object* disable(Object*, Object* message) {
  return guarded([&]() -> Object* {
    const char* text = message == Py_None ? "" : PyUnicode_AsUTF8(message);
    if (!text) throw PythonError{};
    if (*text && !stack.empty()) fail(text);
    const std::string before = std::exchange(disabled, text);
    if (before.empty()) Py_RETURN_NONE;
    return PyUnicode_FromString(before.c_str());
  });
}

PyMethodDef functions[] = {
    {"_push_saved_hooks", push, METH_VARARGS, "_push_saved_hooks(pack, unpack): saved tensors go through these."},
    {"_pop_saved_hooks", pop, METH_NOARGS, "Takes the last hooks off."},
    {"_disable_saved_hooks", disable, METH_O, "Setting hooks raises this message from here on; None allows them."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

SavedHooksStack& saved_hooks() { return stack; }

void init_saved_hooks(Object* module) {
  packed_type.tp_name = "vivace._C._Packed";
  packed_type.tp_basicsize = sizeof(Packed);
  packed_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  packed_type.tp_traverse = packed_traverse;
  packed_type.tp_clear = packed_clear;
  packed_type.tp_dealloc = packed_dealloc;
  checked(PyType_Ready(&packed_type));
  python_hooks.pack = pack;
  python_hooks.unpack = unpack;
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace vivace
