// The Python types Tensor and Parameter.
#pragma once
#include "runtime/core/tensor_object.h"

namespace vivace {

/// Makes the types and adds them to the module. Throws PythonError.
void init_tensor_type(Object* module);

}  // namespace vivace
