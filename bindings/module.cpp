// vivace._C: puts together what the other files of bindings/ and the generator provide.
#include <cstring>

#include "bindings/autograd.h"
#include "bindings/backend.h"
#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/extension_api.h"
#include "bindings/native_kernel.h"
#include "bindings/node_type.h"
#include "bindings/override.h"
#include "bindings/packet.h"
#include "bindings/python_dispatch.h"
#include "bindings/python_op.h"
#include "bindings/tensor_type.h"
#include "bindings/vmap.h"
#include "runtime/simd/isa.h"

namespace vivace {
namespace {

/// install(namespace: dict, name: str): adds the native functions of a part of the API ("torch", "nn.functional", ...)
/// to a dict.
Object* install(Object*, Object* args) {
  Object* target;
  const char* name;
  if (!PyArg_ParseTuple(args, "O!s:install", &PyDict_Type, &target, &name)) return nullptr;
  return guarded([&]() -> Object* {
    auto module_name =
        Ref<Object>::steal(checked(PyUnicode_FromFormat(std::strcmp(name, "torch") ? "vivace.%s" : "vivace", name)));
    bool known = false;
    for (int i = 0; i < kNumFunctionTables; ++i) {
      if (std::strcmp(kFunctionTables[i].name, name) != 0) continue;
      known = true;
      for (PyMethodDef* def = kFunctionTables[i].functions; def->ml_name; ++def) {
        auto function = Ref<Object>::steal(checked(PyCFunction_NewEx(def, nullptr, module_name.object())));
        checked(PyDict_SetItemString(target, def->ml_name, function.object()));
      }
    }
    if (!known) fail_value("install: there are no native functions of '", name, "'");
    Py_RETURN_NONE;
  });
}

Object* cpu_capability(Object*, Object*) {
  constexpr const char* names[] = {"DEFAULT", "AVX2", "AVX512"};
  return PyUnicode_FromString(names[int(isa())]);
}

/// A class whose instances are read without a call of `__getattr__`, though it has one to be called by name: as long as
/// Python takes it into account, no read of an attribute is specialised. A class that sets it later gets it back.
Object* read_plainly(Object*, Object* cls) {
  if (!PyType_Check(cls) || !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(cls), Py_TPFLAGS_HEAPTYPE))
    return PyErr_Format(PyExc_TypeError, "_read_plainly: expected a class of Python, not %R", cls);
  reinterpret_cast<PyTypeObject*>(cls)->tp_getattro = PyObject_GenericGetAttr;
  PyType_Modified(reinterpret_cast<PyTypeObject*>(cls));
  Py_RETURN_NONE;
}

Object* none(Object*, Object*) { Py_RETURN_NONE; }

PyMethodDef functions[] = {
    {"_get_cpu_capability", cpu_capability, METH_NOARGS, "The instruction set in use, as PyTorch calls it."},
    {"_get_tracing_state", none, METH_NOARGS, "None: nothing is ever traced."},
    {"_log_api_usage_once", none, METH_O, "Does nothing: uses are not counted."},
    {"_read_plainly", read_plainly, METH_O, "Reads attributes of a class's instances without its __getattr__."},
    {"install", install, METH_VARARGS,
     "install(namespace, name): adds the native functions of a part of the API to a dict."},
    {nullptr, nullptr, 0, nullptr},
};

int exec(Object* module) {
  return guarded_or(-1, [&] {
    init_value_types(module);
    init_tensor_type(module);
    init_override(module);
    init_node_type(module);
    init_autograd(module);
    init_generator(module);
    init_grad_modes(module);
    init_autocast(module);
    init_threads(module);
    init_profiler();
    init_storages(module);
    init_op_call(module);
    init_python_dispatch(module);
    init_native_kernel(module);
    init_extension_api(module);
    init_vmap(module);
    init_backend(module);
    for (PyMethodDef* table : {functions, kConstructorFunctions, kDTypeFunctions, kNumpyFunctions, kDlpackFunctions,
                               kAutogradFunctions, kForwardFunctions, kLibraryFunctions, kProfilerFunctions})
      checked(PyModule_AddFunctions(module, table));
    return 0;
  });
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(exec)}, {0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "vivace._C", "The native part of vivace.", 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace vivace

PyMODINIT_FUNC PyInit__C();
PyMODINIT_FUNC PyInit__C() { return PyModuleDef_Init(&vivace::definition); }
