// Saved-tensor hooks of a thread.
#pragma once
#include <vector>

#include "runtime/core/tensor_object.h"

namespace vivace {

struct SavedHooks {
  Ref<Object> pack, unpack;
};
/// The hooks of this thread; those at the end are in force.
using SavedHooksStack = std::vector<SavedHooks>;
SavedHooksStack& saved_hooks();

void init_saved_hooks(Object* module);

}  // namespace vivace
