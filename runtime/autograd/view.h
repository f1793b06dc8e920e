// Views and history: a view whose root was changed in place takes its grad_fn anew from the root before it is used.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// Whether the root's history changed since t last looked.
inline bool view_is_stale(const Tensor& t) { return t.base && t.epoch != t.base->epoch; }

/// Brings grad_fn and keys of a view up to date. Cheap if nothing changed.
void regenerate_view(Tensor& t);
inline void sync_view(Tensor& t) {
  if (view_is_stale(t)) regenerate_view(t);
}

/// Of a tensor that is laid out like the root of a view, the part that the view looks at, as a view.
TensorRef part_of_root(Tensor& whole, const Tensor& view);

/// The kernel of Key::View, for all ops: synchronises every view among the arguments, then goes on.
Object* view_kernel(const Op& op, KeySet keys, Value* args);

}  // namespace vivace
