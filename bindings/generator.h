// torch.Generator as the argument parser sees it; the stream inside: runtime/random/generator.h.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

bool is_generator(Object* object);

}  // namespace vivace
