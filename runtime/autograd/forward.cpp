// Forward mode: the kernel of Key::ForwardAD. The op runs on the values below this key, once; then each level, the
// outermost first, computes the tangents of the outputs with ops on primals, which lack the level's tangents, and on
// tangents. So tangents are differentiable, backward and by the levels outside.
#include <algorithm>
#include <optional>
#include <vector>

#include "generated/ops/factory/convert.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/derive.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/view.h"
#include "runtime/vmap/batched.h"

namespace vivace {
namespace {

/// Calls f with each tensor among the arguments.
template <class F>
void for_each_tensor(const Op& op, const Value* args, F&& f) {
  for (uint32_t m = op.tensor_args; m; m &= m - 1)
    if (Tensor* t = args[__builtin_ctz(m)].tensor) f(*t);
  for (uint32_t m = op.list_args; m; m &= m - 1)
    for (Tensor* t : args[__builtin_ctz(m)].tensor_list())
      if (t) f(*t);
}

uint64_t sync_and_find_levels(const Op& op, const Value* args) {
  uint64_t levels = 0;
  for_each_tensor(op, args, [&](Tensor& t) {
    sync_view(t);
    sync_tangents(t);
    levels |= levels_of(t);
  });
  return levels;
}

/// Calls f with each level, the outermost first.
template <class F>
void for_each_level(uint64_t levels, F&& f) {
  for (; levels; levels &= levels - 1) f(__builtin_ctzll(levels));
}

/// A tangent in memory like t's, for as_strided, which reaches beyond t: zeros where t is not.
TensorRef laid_out_in_storage_of(const Tensor& t, Tensor& tangent) {
  const int64_t extent[] = {int64_t(t.storage_->nbytes / t.item_size())};
  if (tangent.storage_offset() == t.storage_offset() && tangent.storage_->nbytes >= t.storage_->nbytes)
    return TensorRef::share(&tangent);
  const TensorRef whole = empty(extent, tangent.dtype(), tangent.device());
  fill_into(*whole, 0);
  const TensorRef part = ops::as_strided(*whole, t.sizes(), t.strides(), t.storage_offset());
  ops::copy_(*part, tangent, false);
  return part;
}

/// A view's tangents are views of tangents.
Object* view_of_tangents(const Op& op, KeySet rest, Value* args, uint64_t levels) {
  Object* result = redispatch(op, rest, args);
  auto owner = Ref<Object>::steal(result);
  if (!op.node) return owner.release();
  const std::span<Tensor*> outputs = result_tensors(result);
  for_each_level(levels, [&](int level) {
    Tensor* const tangent = tangent_of(*args[0].tensor, level);
    if (!tangent) return;
    static const Op& as_strided = *find_op("as_strided", "");
    const TensorRef source =
        &op == &as_strided ? laid_out_in_storage_of(*args[0].tensor, *tangent) : TensorRef::share(tangent);
    Value values[kMaxArguments];
    std::copy_n(args, op.nargs, values);
    values[0] = Value::of(source.get());
    Object* viewed = dispatch(op, gather_keys(op, values), values);
    const auto viewed_owner = Ref<Object>::steal(viewed);
    const std::span<Tensor*> tangents = result_tensors(viewed);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!tangent_of(*outputs[i], level)) set_tangent(*outputs[i], *tangents[i], level);
  });
  return owner.release();
}

/// Writes through to the tangents of a tensor that was written to: into what it has, so that tangents of its views and
/// of what it is a view of change with it, or into fresh ones of the tensor at its root.
void write_tangent(Tensor& self, Tensor& value, int level) {
  if (Tensor* const present = tangent_of(self, level)) {
    if (present != &value) ops::copy_(*present, value, false);
    return;
  }
  if (!self.base || !shares_numbers(self, *self.base)) return set_tangent(self, value, level);
  Tensor& root = *self.base;
  const TensorRef whole = empty_strided(root.sizes(), root.strides(), root.dtype(), root.device());
  fill_into(*whole, 0);
  set_tangent(root, *whole, level);
  sync_tangents(self);
  ops::copy_(*tangent_of(self, level), value, false);
}

/// transpose_ and its like change a layout and no value: the tangent's, too.
void lay_out_alike(const Op& op, const Value* args, Tensor& tangent) {
  if (!op.node) fail("cannot resize variables that has a forward grad");
  Value values[kMaxArguments];
  std::copy_n(args, op.nargs, values);
  values[0] = Value::of(&tangent);
  Py_DECREF(dispatch(op, gather_keys(op, values), values));
}

/// The node that the op made, of which t is an output; null if the call was not recorded.
Node* node_behind(const Op& op, const Tensor& t) {
  Node* node = t.base && op.op_class == OpClass::InPlace ? t.base->grad_fn : t.grad_fn;
  if (node && node->info != op.node) node = written_by(*node);
  return node && node->info == op.node ? node : nullptr;
}

/// What a node keeps of results are aliases. They get the tangents of the results.
void show_to_saved(const Op& op, Object* result) {
  const std::span<Tensor*> outputs = result_tensors(result);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_tensor(outputs[i]) || !(outputs[i]->keys & bit(Key::ForwardAD))) continue;
    Node* const node = node_behind(op, *outputs[i]);
    if (!node) continue;
    for (uint32_t k = 0; k < node->nsaves; ++k) {
      const SaveSpec spec = node->info->saves[k];
      const Value& saved = node->saved()[k];
      if (spec.from == SaveFrom::Result && spec.index == i && saved.tag == Tag::Tensor && !levels_of(*saved.tensor))
        share_tangents(*outputs[i], *saved.tensor);
    }
  }
}

bool reads_self(const NodeInfo& info) {
  return info.linear || std::any_of(info.saves, info.saves + info.nsaves,
                                    [](const SaveSpec& s) { return s.from == SaveFrom::Arg && s.index == 0; });
}

Object* in_place(const Op& op, KeySet rest, Value* args, uint64_t levels) {
  Tensor& self = *args[0].tensor;
  const Dims sizes(self.sizes()), strides(self.strides());
  Value values[kMaxArguments];
  std::copy_n(args, op.nargs, values);
  std::vector<TensorRef> before;  // the write, of what the derivative reads
  if (op.node) {
    for (uint32_t m = op.tensor_args; m; m &= m - 1) {
      const int i = __builtin_ctz(m);
      Tensor* const t = values[i].tensor;
      if (!t || (i == 0 ? !reads_self(*op.node) : t->storage_ != self.storage_)) continue;
      before.push_back(ops::clone(*t, std::nullopt));
      values[i].tensor = before.back().get();
    }
  }
  auto owner = Ref<Object>::steal(redispatch(op, rest, args));
  if (!is_differentiable(self.dtype())) return owner.release();
  const bool moved =
      !std::ranges::equal(self.sizes(), IntList(sizes)) || !std::ranges::equal(self.strides(), IntList(strides));
  for_each_level(levels, [&](int level) {
    Tensor* const present = tangent_of(self, level);
    if (moved) return present ? lay_out_alike(op, args, *present) : void();
    TensorRef tangent;
    Tensor* outputs[] = {&self};
    if (op.node) derive(op, DualArguments(op, values, level), outputs, {&tangent, 1});
    if (tangent)
      write_tangent(self, *tangent, level);
    else if (present)
      ops::zero_(*present);
  });
  show_to_saved(op, owner.object());
  return owner.release();
}

Object* plain(const Op& op, KeySet rest, Value* args, uint64_t levels) {
  Object* result = redispatch(op, rest, args);
  auto owner = Ref<Object>::steal(result);
  if (!op.node) return owner.release();
  const std::span<Tensor*> outputs = result_tensors(result);
  for_each_level(levels, [&](int level) {
    const DualArguments given(op, args, level);
    TensorRef few[4];
    std::vector<TensorRef> many(outputs.size() > 4 ? outputs.size() : 0);
    const std::span<TensorRef> tangents(outputs.size() > 4 ? many.data() : few, outputs.size());
    derive(op, given, outputs, tangents);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (tangents[i] && !tangent_of(*outputs[i], level)) set_tangent(*outputs[i], *tangents[i], level);
  });
  show_to_saved(op, result);
  return owner.release();
}

/// The innermost level that a tangent of t, or a tangent's tangent, is batched at.
int level_of_tangents(const Tensor& t) {
  int found = 0;
  for_each_level(levels_of(t), [&](int level) {
    const Tensor& tangent = *tangent_of(t, level);
    const std::vector<int> at = levels_behind(tangent);
    found = std::max({found, at.empty() ? 0 : at.back(), level_of_tangents(tangent)});
  });
  return found;
}

/// A tensor whose tangents differ between samples, batched at the levels that they are.
TensorRef batched_like_tangents(Tensor& t) {
  const std::vector<int> own = levels_behind(t);
  Tensor& base = base_of(t);
  std::vector<std::pair<int, TensorRef>> tangents;
  std::vector<int> every = own;
  for_each_level(levels_of(base), [&](int level) {
    tangents.emplace_back(level, beside_batched(*tangent_of(base, level), own));
    for (const int at : levels_behind(*tangents.back().second))
      if (std::ranges::find(every, at) == every.end()) every.push_back(at);
  });
  std::ranges::sort(every);
  const TensorRef bare = batched_at(primal_alias(base, 0), own);
  TensorRef wide = beside_base(*bare, every);
  if (wide.get() == &base_of(*bare)) wide = primal_alias(*wide, 0);
  for (const auto& [level, tangent] : tangents) set_tangent(*wide, *beside_base(*tangent, every), level);
  return batched_at(std::move(wide), every);
}

/// Where an argument is batched, tangents belong to the physical tensors: the kernel of Key::Vmap leads there.
Object* in_vmap(const Op& op, KeySet rest, Value* args, int level) {
  Value values[kMaxArguments];
  std::copy_n(args, op.nargs, values);
  std::vector<TensorRef> kept;
  std::vector<std::vector<Tensor*>> lists;
  auto spread = [&](Tensor* t) {
    if (!t || level_of_tangents(base_of(*t)) < level) return t;
    kept.push_back(batched_like_tangents(*t));
    return kept.back().get();
  };
  for (uint32_t m = op.tensor_args; m; m &= m - 1) {
    Tensor*& t = values[__builtin_ctz(m)].tensor;
    t = spread(t);
  }
  for (uint32_t m = op.list_args; m; m &= m - 1) {
    lists.emplace_back();
    for (Tensor* t : args[__builtin_ctz(m)].tensor_list()) lists.back().push_back(spread(t));
    values[__builtin_ctz(m)] = Value::of(TensorList(lists.back()));
  }
  return redispatch(op, rest, values);
}

}  // namespace

Object* forward_kernel(const Op& op, KeySet keys, Value* args) {
  const KeySet rest = keys & below(Key::ForwardAD);
  if (rest & op.table.keys & bit(Key::Autocast)) return redispatch(op, rest, args);  // it casts, and calls again
  const uint64_t levels = sync_and_find_levels(op, args);
  if (!levels) return redispatch(op, rest, args);
  if (rest & bit(Key::Vmap))
    if (const int level = innermost_level(op, args)) return in_vmap(op, rest, args, level);
  switch (op.op_class) {
    case OpClass::Out:
      fail_not_implemented("Trying to use forward AD with ", op.functional->name,
                           "_out that does not support it because it is an out= function");
    case OpClass::View:
      return view_of_tangents(op, rest, args, levels);
    case OpClass::InPlace:
      return in_place(op, rest, args, levels);
    case OpClass::Plain:
      return plain(op, rest, args, levels);
  }
  return nullptr;
}

Object* refuse_forward(const Op& op, KeySet keys, Value* args) {
  const KeySet rest = keys & below(Key::ForwardAD);
  if (!sync_and_find_levels(op, args)) return redispatch(op, rest, args);
  fail_not_implemented("Trying to use forward AD with ", op.name,
                       " that does not support it because it has not been implemented yet.");
}

}  // namespace vivace
