// How many threads kernels use.
#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/tables.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

namespace {

int unwrap_count(const char* function, Object* number) {
  int64_t n;
  if (!unwrap_int(number, &n)) fail_type(function, " expects an int, but got ", Py_TYPE(number)->tp_name);
  if (n < 1 || n > INT32_MAX) fail(function, " expects a positive integer");
  return int(n);
}

Object* set_threads(Object*, Object* number) {
  return guarded([&] {
    set_num_threads(unwrap_count("set_num_threads", number));
    return Py_NewRef(Py_None);
  });
}

Object* get_threads(Object*, Object*) {
  return guarded([] { return PyLong_FromLong(get_num_threads()); });
}

Object* set_interop_threads(Object*, Object* number) {
  return guarded([&] {
    unwrap_count("set_num_interop_threads", number);
    return Py_NewRef(Py_None);
  });
}

Object* get_interop_threads(Object*, Object*) { return PyLong_FromLong(1); }

PyMethodDef functions[] = {
    {"set_num_threads", set_threads, METH_O, "set_num_threads(n): how many threads a kernel uses."},
    {"get_num_threads", get_threads, METH_NOARGS, "How many threads a kernel uses."},
    {"set_num_interop_threads", set_interop_threads, METH_O, "Accepted; operators run one after the other."},
    {"get_num_interop_threads", get_interop_threads, METH_NOARGS, "1: operators run one after the other."},
    kNoMethod,
};

}  // namespace

void init_threads(Object* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace vivace
