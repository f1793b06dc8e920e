// Brings the small value types into the module.
#include "bindings/init.h"

#include "bindings/exports.h"
#include "bindings/guard.h"

namespace vivace {

namespace {
Object* extension = nullptr;  // lives as long as the process
}

Object* module_attribute(const char* name) { return checked(PyObject_GetAttrString(extension, name)); }

void init_value_types(Object* module) {
  extension = Py_NewRef(module);
  init_dtypes(module);
  init_limits(module);
  init_device(module);
  init_layouts(module);
  init_size(module);
  init_return_types(module);
}

}  // namespace vivace
