// Dispatch keys: bits of a KeySet. A call goes to the highest bit that is set in (arguments | include) & ~exclude.
#pragma once
#include <cstdint>
#include <utility>

#include "runtime/core/device.h"

namespace vivace {

using KeySet = uint32_t;

enum class Key : uint8_t {
  // backends, in the order of DeviceType
  CPU,
  Meta,
  CUDA,
  PrivateUse,
  NoData,  // a wrapper made by _make_wrapper_subclass: sizes and a dtype, but nothing that a kernel could read
  // functionality, lowest first
  Python = 6,  // __torch_dispatch__ of a mode or of an argument's class: sees what autograd leaves
  Watched,     // ours alone (PyTorch's nearest is ADInplaceOrView): an argument was saved for backward; note who writes
  Autograd,    // an argument requires grad
  View,        // an argument is a view: synchronise it with its root first
  SavedHooks,  // saved-tensor hooks are on in this thread
  Inference,   // inference mode is on in this thread, or an argument was made in it
  Autocast,
  Vmap,       // an argument is a batch in vmap
  ForwardAD,  // an argument has a tangent
  Profiler,
};
inline constexpr int kNumKeys = 16;

inline constexpr KeySet bit(Key k) { return KeySet(1) << int(k); }
inline constexpr KeySet kBackendKeys = bit(Key::Python) - 1;
inline constexpr KeySet backend_key(DeviceType type) { return KeySet(1) << int(type); }
/// All keys below k.
inline constexpr KeySet below(Key k) { return bit(k) - 1; }

/// Keys of tensors whose memory only their own kernels may touch; aliases and views have them as well.
inline constexpr KeySet kMemoryKeys = bit(Key::PrivateUse) | bit(Key::NoData) | bit(Key::Python) | bit(Key::Vmap);
inline constexpr KeySet kForeignKeys = kMemoryKeys | bit(Key::ForwardAD);

/// What a thread adds to and hides from every call, and its autograd modes.
struct ThreadState {
  KeySet include = 0;
  KeySet exclude = 0;
  bool grad_mode = true;
  bool foreign_backward = false;  // the derivative that runs has foreign tensors among its operands
  bool inference_mode = false;
};
extern thread_local constinit ThreadState tls __attribute__((tls_model("initial-exec")));

/// Whether what is to be done with a tensor of these keys has to go through the dispatcher.
inline bool is_foreign(KeySet keys) { return ((keys | tls.include) & ~tls.exclude & kForeignKeys) != 0; }

/// Sets grad mode for a scope.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool on) : before_(std::exchange(tls.grad_mode, on)) {}
  ~GradModeGuard() { tls.grad_mode = before_; }
  GradModeGuard(const GradModeGuard&) = delete;

 private:
  bool before_;
};

/// Hides keys from calls for a scope.
class ExcludeGuard {
 public:
  explicit ExcludeGuard(KeySet keys) : before_(std::exchange(tls.exclude, tls.exclude | keys)) {}
  ~ExcludeGuard() { tls.exclude = before_; }
  ExcludeGuard(const ExcludeGuard&) = delete;

 private:
  KeySet before_;
};

}  // namespace vivace
