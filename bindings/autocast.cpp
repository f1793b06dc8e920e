// The state of autocast on the CPU, for vivace/_autocast.py.
#include "runtime/autograd/autocast.h"

#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

Object* get_state(Object*, Object*) {
  return guarded([] {
    return checked(Py_BuildValue("NNN", PyBool_FromLong(is_autocast_enabled()), wrap(autocast_state.dtype),
                                 PyBool_FromLong(autocast_state.cache)));
  });
}

Object* set_state(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    bool enabled, cache;
    DType dtype;
    if (nargs != 3 || !unwrap_bool(args[0], &enabled) || !unwrap_dtype(args[1], &dtype) ||
        !unwrap_bool(args[2], &cache))
      fail_type("_set_autocast() expects bool enabled, torch.dtype dtype, bool cache");
    set_autocast_enabled(enabled);
    autocast_state.dtype = dtype;
    autocast_state.cache = cache;
    return Py_NewRef(Py_None);
  });
}

Object* clear_cache(Object*, Object*) {
  return guarded([] {
    clear_autocast_cache();
    return Py_NewRef(Py_None);
  });
}

Object* increment_nesting(Object*, Object*) { return PyLong_FromLong(++autocast_state.nesting); }
Object* decrement_nesting(Object*, Object*) { return PyLong_FromLong(--autocast_state.nesting); }

PyMethodDef functions[] = {
    {"_get_autocast", get_state, METH_NOARGS, "(enabled, dtype, cache) of this thread's autocast on the CPU."},
    fast_function("_set_autocast", set_state, "_set_autocast(enabled, dtype, cache)"),
    {"clear_autocast_cache", clear_cache, METH_NOARGS, "Drops the weights that autocast has cast."},
    {"autocast_increment_nesting", increment_nesting, METH_NOARGS, "Opens a region; gives how many are open."},
    {"autocast_decrement_nesting", decrement_nesting, METH_NOARGS, "Closes a region; gives how many are open."},
    kNoMethod,
};

}  // namespace

void init_autocast(Object* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace vivace
