// Tensors in vmap. The function that vmap calls gets tensors that look like one sample and stand for all of them: a
// batched tensor has a sample's sizes, no memory, and the physical tensor behind it, whose first dim runs over the
// samples. vmaps nest: a physical tensor may itself be batched, in a vmap further out. What an operator does with them
// is in vmap.cpp.
#pragma once
#include <vector>

#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/op.h"

namespace vivace {

enum class Randomness : uint8_t { Error, Different, Same };

/// One vmap that runs.
struct VmapLevel {
  int64_t size;  // how many samples
  Randomness randomness;
  bool only_tangents;  // are batched at it: the function itself sees the same for all samples
  uint64_t serial;     // of all vmaps of the process: a batched tensor of one that has ended is told by it
  Ref<Object> info;    // what rules written in Python get
};

/// The vmaps of this thread are counted from 1, the outermost; their number is the level.
const VmapLevel& vmap_level(int level);
/// A new innermost vmap below those that calls see; others are set aside until it is left. Its level.
int enter_vmap(VmapLevel level);
void leave_vmap();

struct Batch {
  TensorRef physical;
  int level;
  uint64_t serial;
};

inline bool is_batched(const Tensor& t) { return t.keys & bit(Key::Vmap); }
inline const Batch& batch_of(const Tensor& t) { return *static_cast<const Batch*>(t.storage_->context); }
/// The level of a tensor, 0 if it is not batched; throws for one whose vmap has ended.
int level_of(const Tensor& t);
/// A batched tensor over a physical one, which has the samples in its first dim.
TensorRef batched(TensorRef physical, int level);
/// The levels that t is batched at, the outermost first.
std::vector<int> levels_behind(const Tensor& t);
/// The tensor behind all levels; its leading dims run over their samples.
Tensor& base_of(Tensor& t);
/// The reverse of base_of.
TensorRef batched_at(TensorRef base, const std::vector<int>& levels);
/// What goes with a base that is batched at `levels`, such as its tangent: t with these levels as leading dims,
/// expanded where it has them not; it stays batched at others.
TensorRef beside_base(Tensor& t, const std::vector<int>& levels);
/// The reverse: what goes with a tensor that is batched at `levels`, from what goes with its base.
TensorRef beside_batched(Tensor& t, const std::vector<int>& levels);
/// The innermost level among the arguments; 0 if none is batched.
int innermost_level(const Op& op, const Value* args);
/// Takes over the sizes that the physical tensor has now.
void refresh_layout(Tensor& batched);

/// From here on calls see so many levels.
void show_vmap_levels(int depth);
/// The same for a scope: a rule works on what the vmaps further out see.
class VmapDepth {
 public:
  explicit VmapDepth(int levels);
  ~VmapDepth();
  VmapDepth(const VmapDepth&) = delete;
  static int now();

 private:
  int before_;
};

/// Gives all operators that don't merely call others a kernel for Key::Vmap; later calls do nothing.
void install_vmap();
/// The kernel of Key::Vmap.
Object* vmap_kernel(const Op& op, KeySet keys, Value* args);
/// Forgets what is known of an operator's rule.
void forget_vmap_rule(const Op& op);

/// How an operator is called on physical tensors.
struct VmapRule {
  enum Kind : uint8_t {
    Loop,        // sample by sample
    Places,      // the operator itself, arguments changed as `places` says
    Function,    // a rule written in Python
    Decomposed,  // a function written in Python that calls other operators
    Functional,  // of an in-place operator: the functional form, and a copy
  };
  Kind kind = Loop;
  bool is_random = false;
  /// A letter for each argument, see vmap.cpp; where an argument marked '.' is batched, `function` is called instead.
  std::string places;
  Ref<Object> function;
};

/// What the bindings fill in: rules are chosen, and those written in Python called, there.
struct VmapHooks {
  VmapRule (*find_rule)(const Op& op);
  /// Null if the rule does not cover these arguments.
  Object* (*call_function)(const Op& op, const VmapRule& rule, int level, Value* args);
  Object* (*call_decomposed)(const Op& op, const VmapRule& rule, Value* args);
};
extern VmapHooks vmap_hooks;

}  // namespace vivace
