// The parts of init_value_types: each readies its types and adds them and their values to the module. They throw
// PythonError.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

void init_dtypes(Object* module);
void init_limits(Object* module);
void init_device(Object* module);
void init_layouts(Object* module);
void init_size(Object* module);
void init_return_types(Object* module);

/// A new reference to something in the extension module.
Object* module_attribute(const char* name);

}  // namespace vivace
