// Layers of the dispatcher that serve autograd beside recording itself; each is off, and costs nothing, where its key
// is not set.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// The kernel of Key::Watched, of ops that write to an argument: notes the write for `last_write`.
Object* watched_kernel(const Op& op, KeySet keys, Value* args);
/// The kernel of Key::SavedHooks: what the op's node saved is given to the pack hook.
Object* saved_hooks_kernel(const Op& op, KeySet keys, Value* args);
/// The kernel of Key::ForwardAD: the op on values, then on tangents (forward.h).
Object* forward_kernel(const Op& op, KeySet keys, Value* args);
/// The same for ops without a formula: refuses, unless nothing in the result is differentiable.
Object* refuse_forward(const Op& op, KeySet keys, Value* args);
/// The kernel of Key::Inference: marks what is made in inference mode, and refuses outside what such tensors can't do.
Object* inference_kernel(const Op& op, KeySet keys, Value* args);

/// The op that wrote last to the memory of a tensor that was being watched, and the line that called it.
struct Write {
  const char* op = nullptr;  // a name that is never freed
  Object* code = nullptr;
  int32_t lasti = 0;
  uint32_t version = 0;               // of the memory, after the write
  const uint32_t* counter = nullptr;  // the version counter that it raised
};
/// The last write to t's memory; null if it was not noted.
const Write* last_write(const Tensor& t);

/// Marks a tensor that was made in inference mode.
inline void mark_inference(Tensor& t) { t.keys |= bit(Key::Inference); }
inline bool is_inference(const Tensor& t) { return t.keys & bit(Key::Inference); }
[[noreturn]] void refuse_inference_save();
void set_inference_mode(bool on);

/// Gives each tensor that the node saved to the pack hook of this thread, and keeps what that returns.
void pack_saved(Node& node);

}  // namespace vivace
