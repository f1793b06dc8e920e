// What src/vivace/func needs of batched tensors, and calls of rules that are written in Python.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

void init_vmap(Object* module);

}  // namespace vivace
