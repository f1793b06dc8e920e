// Methods of tensors and nodes that register hooks.
#pragma once
#include "runtime/core/object.h"

namespace vivace {

Object* register_hook(Object* self, Object* hook);
Object* register_post_accumulate_grad_hook(Object* self, Object* hook);
Object* retain_grad(Object* self, Object*);
Object* get_backward_hooks(Object* self, void*);

// of nodes, AccumulateGrad included
Object* node_register_hook(Object* self, Object* hook);
Object* node_register_prehook(Object* self, Object* hook);
Object* node_metadata(Object* self, void*);

}  // namespace vivace
