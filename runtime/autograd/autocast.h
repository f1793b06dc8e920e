// Autocast: in a region of it, operators that gain from a lower precision get their floating arguments in that one,
// those that need it get float32, and those that join tensors get the widest type among them. The catalogue says which.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// The kernels of Key::Autocast, which is on in a region: cast the arguments, and call the operator with the key off.
Object* autocast_lower(const Op& op, KeySet keys, Value* args);
Object* autocast_float32(const Op& op, KeySet keys, Value* args);
Object* autocast_promote(const Op& op, KeySet keys, Value* args);

/// What a region sets, in this thread.
struct AutocastState {
  DType dtype = DType::BFloat16;  // the lower precision
  bool cache = true;              // whether weights are cast once
  int nesting = 0;                // regions that are open
};
extern thread_local constinit AutocastState autocast_state;

inline bool is_autocast_enabled() { return tls.include & bit(Key::Autocast); }
inline void set_autocast_enabled(bool on) {
  tls.include = on ? tls.include | bit(Key::Autocast) : tls.include & ~bit(Key::Autocast);
}

/// Drops the weights that were cast.
void clear_autocast_cache();

/// Turns autocast off for a scope.
class AutocastOffGuard {
 public:
  AutocastOffGuard() : before_(is_autocast_enabled()) { set_autocast_enabled(false); }
  ~AutocastOffGuard() { set_autocast_enabled(before_); }
  AutocastOffGuard(const AutocastOffGuard&) = delete;

 private:
  bool before_;
};

/// t in float32 if autocast would cast it, else t. Autocast is off.
TensorRef in_float32(Tensor& t);

}  // namespace vivace
