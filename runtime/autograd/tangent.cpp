// Which tensors have which tangents. A level knows its tangents by a list through them, so that closing it frees all,
// wherever a graph or a program keeps the tensors.
#include "runtime/autograd/tangent.h"

#include <algorithm>

#include "generated/ops/factory/convert.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/view.h"
#include "runtime/dispatch/foreign.h"

namespace vivace {
namespace {

Tangent* newest[kMaxDualLevels];  // of each level
int nlevels = 0;

/// Where t's tangent of the level stands among its tangents, or would stand.
Tangent** place_of(Tensor& t, int level) {
  Tangent** at = &extra(t).tangents;
  while (*at && (*at)->level > level) at = &(*at)->outer;
  return at;
}

void attach(Tensor& t, Tensor& tangent, int level) {
  Tangent** const at = place_of(t, level);
  Tangent*& first = newest[level];
  auto* made = new Tangent{&tangent, &t, *at, first, &first, level};
  Py_INCREF(&tangent);
  if (first) first->link = &made->next;
  first = made;
  *at = made;
  t.keys |= bit(Key::ForwardAD);
  track(t);
}

/// Takes the innermost tangents of t, those at `level` or inside of it.
void detach_inner(Tensor& t, int level) {
  while (Tangent* first = t.extra->tangents) {
    if (first->level < level) return;
    t.extra->tangents = first->outer;
    if (!first->outer) t.keys &= ~bit(Key::ForwardAD);
    *first->link = first->next;
    if (first->next) first->next->link = first->link;
    Tensor* const value = first->value;
    delete first;
    Py_DECREF(value);  // last: it may free what has other tangents
  }
}

/// An alias without tangents; of what only stands for a tensor, by way of its own layer.
TensorRef alias_of(Tensor& t, bool with_history) {
  if (t.keys & kMemoryKeys & ~bit(Key::PrivateUse)) {
    static const Op &same = *find_op("alias", ""), &cut = *find_op("detach", "");
    Value args[] = {Value::of(&t)};
    const KeySet keys = (t.keys | tls.include) & ~tls.exclude & below(Key::ForwardAD);
    return TensorRef::steal(&tensor_of(redispatch(with_history ? same : cut, keys, args)));
  }
  if (!with_history || !t.requires_grad()) return alias(t);
  return with_edge(t, t.grad_fn ? Edge(t.grad_fn, t.output_nr) : Edge::leaf(&t));
}

/// Whether elements share memory, as those of an expanded tensor do: nothing is written there.
bool repeats(const Tensor& t) {
  for (size_t d = 0; d < t.sizes().size(); ++d)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  return false;
}

}  // namespace

int enter_dual_level() {
  if (nlevels == kMaxDualLevels) fail("forward mode nests ", kMaxDualLevels, " levels at most");
  foreign_tensors_exist = true;
  return nlevels++;
}

void exit_dual_level(int level) {
  if (level != nlevels - 1)
    fail("Trying to exit a forward AD level that was not the last one that was created. This is not supported.");
  while (const Tangent* t = newest[level]) {
    const auto owner = TensorRef::share(t->owner);  // the graph of its tangent may be all that holds it
    detach_inner(*owner, level);
  }
  --nlevels;
}

int open_dual_levels() { return nlevels; }

uint64_t levels_of(const Tensor& t) {
  uint64_t levels = 0;
  for (const Tangent* x = t.extra ? t.extra->tangents : nullptr; x; x = x->outer) levels |= uint64_t(1) << x->level;
  return levels;
}

Tensor* tangent_of(const Tensor& t, int level) {
  for (const Tangent* x = t.extra ? t.extra->tangents : nullptr; x; x = x->outer)
    if (x->level == level) return x->value;
  return nullptr;
}

void set_tangent(Tensor& t, Tensor& tangent, int level) {
  if (level < 0 || level >= nlevels) fail("Invalid level given to _make_dual");
  if (levels_of(tangent) >> level)
    fail("Setting a forward grad that itself has a forward gradient at the same level", level, " is not supported.");
  if (!std::ranges::equal(t.sizes(), tangent.sizes()))
    fail(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        "supported. Tensor is of size ",
        t.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  if (same_layout(t, tangent) || tangent.keys & bit(Key::Vmap) || repeats(t)) return attach(t, tangent, level);
  const TensorRef copy = empty_strided(t.sizes(), t.strides(), tangent.dtype(), tangent.device());
  fill_into(*copy, 0);  // gaps between elements too
  ops::copy_(*copy, tangent, false);
  attach(t, *copy, level);
}

void take_over_tangents(Tensor& t) {
  for (Tangent* x = t.extra ? t.extra->tangents : nullptr; x; x = x->outer) x->owner = &t;
}

void drop_tangents(Tensor& t) {
  if (t.extra) detach_inner(t, 0);
}

TensorRef primal_alias(Tensor& t, int level) {
  TensorRef primal = alias_of(t, true);
  for (const Tangent* x = t.extra ? t.extra->tangents : nullptr; x; x = x->outer)
    if (x->level < level) attach(*primal, *x->value, x->level);
  return primal;
}

TensorRef values_of(Tensor& t) { return alias_of(t, false); }

void share_tangents(const Tensor& from, Tensor& to) {
  for (const Tangent* x = from.extra ? from.extra->tangents : nullptr; x; x = x->outer) attach(to, *x->value, x->level);
}

void copy_tangents(const Tensor& from, Tensor& to) {
  for (const Tangent* x = from.extra ? from.extra->tangents : nullptr; x; x = x->outer)
    attach(to, *ops::clone(*x->value, std::nullopt), x->level);
}

bool shares_numbers(const Tensor& view, const Tensor& root) {
  return is_differentiable(view.dtype()) && real_of(view.dtype()) == real_of(root.dtype());
}

void sync_tangents(Tensor& t) {
  if (!t.base || !(t.base->keys & bit(Key::ForwardAD)) || !shares_numbers(t, *t.base)) return;
  Tensor& root = *t.base;
  for (uint64_t missing = levels_of(root) & ~levels_of(t); missing; missing &= missing - 1) {
    const int level = __builtin_ctzll(missing);
    const TensorRef part = part_of_root(*tangent_of(root, level), t);
    attach(t, *part, level);
  }
}

}  // namespace vivace
