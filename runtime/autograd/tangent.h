// Forward mode's data. A tensor carries at most one tangent for each dual level that is open. Levels nest: a tangent of
// one level may carry tangents of the levels outside of it, never of its own or of inner ones.
#pragma once
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/keys.h"

namespace vivace {

inline constexpr int kMaxDualLevels = 64;

/// One tensor's tangent at one level.
struct Tangent {
  Tensor* value;   // owned
  Tensor* owner;   // borrowed: what carries it
  Tangent* outer;  // the owner's next one, at a level outside of this
  Tangent* next;   // among all of the level
  Tangent** link;  // what points here among these
  int level;
};

/// Opens a level inside those that are open; its number.
int enter_dual_level();
/// Closes the innermost level, which has to be this one: its tangents go from the tensors that carry them.
void exit_dual_level(int level);
int open_dual_levels();

/// Bit i: t has a tangent at level i.
uint64_t levels_of(const Tensor& t);
/// Borrowed; null if there is none.
Tensor* tangent_of(const Tensor& t, int level);
/// Gives t, which has none at the level, a tangent of its sizes; one that is laid out otherwise is copied.
void set_tangent(Tensor& t, Tensor& tangent, int level);
/// Says that t carries the tangents in its extra part, which was another tensor's.
void take_over_tangents(Tensor& t);
/// Takes all tangents from t.
void drop_tangents(Tensor& t);

/// t's values and history, with its tangents of the levels outside of this one only: another tensor, in which later
/// tangents of t don't show.
TensorRef primal_alias(Tensor& t, int level);
/// The same, but t itself if it has nothing to leave out.
inline TensorRef primal_of(Tensor& t, int level) {
  const bool has = t.keys & bit(Key::ForwardAD) && levels_of(t) >> level;
  return has ? primal_alias(t, level) : TensorRef::share(&t);
}
/// An alias with neither history nor tangents.
TensorRef values_of(Tensor& t);
/// Gives one tensor, which has none, the tangents of another; copies of them.
void share_tangents(const Tensor& from, Tensor& to);
void copy_tangents(const Tensor& from, Tensor& to);

/// Whether parts of a root's tangents can be tangents of a view of it.
bool shares_numbers(const Tensor& view, const Tensor& root);
/// Whether the tensor that a view looks into has tangents, and the view none: they came later.
inline bool lacks_tangents(const Tensor& t) {
  return t.base && t.base->keys & ~t.keys & bit(Key::ForwardAD) && shares_numbers(t, *t.base);
}
/// Gives a view the parts that belong to it of the tangents of the tensor that it looks into.
void sync_tangents(Tensor& t);

}  // namespace vivace
