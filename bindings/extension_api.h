// The table of functions that extensions written in C++ reach vivace through.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

/// Adds the capsule; src/vivace/include/vivace/abi.h says what it holds.
void init_extension_api(Object* module);

}  // namespace vivace
