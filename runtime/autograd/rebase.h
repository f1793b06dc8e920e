// History of tensors that are changed in place.
#pragma once
#include "runtime/autograd/node.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

/// After an in-place op recorded as `node` (an edge to self as it was before, if there is one, comes first): makes it
/// self's history, as its nr-th output, and through a view the root's.
void rebase_history(Tensor& self, Node& node, uint32_t nr = 0);
/// For a view that may not be written to (see ViewOrigin): itself, or `indirectly` its base or another view of it was.
[[noreturn]] void refuse_view(const Tensor& t, bool indirectly);
/// Refuses a write to a view whose base could not be told of it.
inline void check_view_origin(const Tensor& t) {
  if (t.origin != ViewOrigin::Recorded) [[unlikely]]
    refuse_view(t, false);
}
/// Makes v, which Python gave back for a view of t, one for autograd; `detached`: one without history.
void adopt_view(Tensor& v, Tensor& t, bool detached);
/// While CopySlices runs the node of the op that wrote: the way that what this saved of its result takes, by the root.
struct WrittenSlice {
  const Node* node = nullptr;
  Edge edge;
};
extern thread_local WrittenSlice written_slice;

/// Of a root's CopySlices: the node of the op that wrote through a view; null for other nodes.
Node* written_by(Node& node);

}  // namespace vivace
