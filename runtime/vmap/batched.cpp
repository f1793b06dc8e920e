// Batched tensors, and the levels of the thread.
#include "runtime/vmap/batched.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "generated/ops/view/dims.h"
#include "runtime/core/pool.h"

namespace vivace {
namespace {

thread_local std::vector<VmapLevel> levels;
thread_local int visible = 0;
thread_local std::vector<std::vector<VmapLevel>> set_aside;

}  // namespace

const VmapLevel& vmap_level(int level) { return levels.at(size_t(level - 1)); }

int enter_vmap(VmapLevel level) {
  const auto inner = levels.begin() + visible;
  set_aside.emplace_back(std::make_move_iterator(inner), std::make_move_iterator(levels.end()));
  levels.erase(inner, levels.end());
  levels.push_back(std::move(level));
  show_vmap_levels(int(levels.size()));
  return visible;
}

void leave_vmap() {
  show_vmap_levels(int(levels.size()) - 1);
  levels.pop_back();
  std::ranges::move(set_aside.back(), std::back_inserter(levels));
  set_aside.pop_back();
}

void show_vmap_levels(int depth) {
  visible = depth;
  tls.include = depth ? tls.include | bit(Key::Vmap) : tls.include & ~bit(Key::Vmap);
}

int VmapDepth::now() { return visible; }
VmapDepth::VmapDepth(int depth) : before_(visible) { show_vmap_levels(depth); }
VmapDepth::~VmapDepth() { show_vmap_levels(before_); }

int level_of(const Tensor& t) {
  if (!is_batched(t)) return 0;
  const Batch& batch = batch_of(t);
  if (size_t(batch.level) > levels.size() || levels[size_t(batch.level - 1)].serial != batch.serial)
    fail(
        "vmap: a tensor was used outside of the vmap that it is a sample in. What the function given to vmap stores "
        "elsewhere has no meaning after it; return it instead.");
  return batch.level;
}

TensorRef batched(TensorRef physical, int level) {
  Tensor& p = *physical;
  const size_t n = size_t(p.dim());
  if (n == 0) fail("vmap: a result without the dim of the batch");
  auto made = TensorRef::steal(layout_only(p.sizes().last(n - 1), p.strides().last(n - 1), p.dtype(), p.device()));
  auto* batch = new Batch{std::move(physical), level, levels[size_t(level - 1)].serial};
  made->storage_ = wrap_storage(nullptr, 0, [](void* context) { delete static_cast<Batch*>(context); }, batch);
  made->storage_->device = p.device();
  made->version_ = p.version_;
  made->data_ = nullptr;
  made->keys = bit(Key::NoData) | bit(Key::Vmap);
  return made;
}

std::vector<int> levels_behind(const Tensor& t) {
  std::vector<int> found;
  for (const Tensor* x = &t; is_batched(*x); x = batch_of(*x).physical.get()) found.insert(found.begin(), level_of(*x));
  return found;
}

Tensor& base_of(Tensor& t) {
  Tensor* x = &t;
  while (is_batched(*x)) x = batch_of(*x).physical.get();
  return *x;
}

TensorRef batched_at(TensorRef base, const std::vector<int>& at) {
  for (const int level : at) base = batched(std::move(base), level);
  return base;
}

namespace {

bool contains(const std::vector<int>& at, int level) { return std::ranges::find(at, level) != at.end(); }

/// The leading dims, which run over the levels `from`, in the order `to`.
TensorRef reordered(TensorRef t, const std::vector<int>& from, const std::vector<int>& to) {
  if (from == to) return t;
  Dims order;
  for (const int level : to) order.push(std::ranges::find(from, level) - from.begin());
  for (int64_t d = order.n; d < t->dim(); ++d) order.push(d);
  return ops::permute(*t, order);
}

}  // namespace

TensorRef beside_base(Tensor& t, const std::vector<int>& at) {
  const std::vector<int> own = levels_behind(t);
  const VmapDepth outside(0);
  TensorRef base = TensorRef::share(&base_of(t));
  if (own == at) return base;
  std::vector<int> every = own, others;
  for (const int level : at)
    if (!contains(own, level)) every.push_back(level);
  std::ranges::sort(every);
  for (size_t d = 0; d < every.size(); ++d) {
    if (contains(own, every[d])) continue;
    base = ops::unsqueeze(*base, int64_t(d));
    Dims sizes(base->sizes());
    sizes[int(d)] = vmap_level(every[d]).size;
    base = ops::expand(*base, sizes, false);
  }
  for (const int level : own)
    if (!contains(at, level)) others.push_back(level);
  std::vector<int> order = others;
  order.insert(order.end(), at.begin(), at.end());
  return batched_at(reordered(std::move(base), every, order), others);
}

TensorRef beside_batched(Tensor& t, const std::vector<int>& at) {
  if (at.empty()) return TensorRef::share(&t);
  std::vector<int> every = levels_behind(t);
  if (every.empty()) return batched_at(TensorRef::share(&t), at);
  const VmapDepth outside(0);
  every.insert(every.end(), at.begin(), at.end());
  std::vector<int> sorted = every;
  std::ranges::sort(sorted);
  return batched_at(reordered(TensorRef::share(&base_of(t)), every, sorted), sorted);
}

void refresh_layout(Tensor& t) {
  const Tensor& p = *batch_of(t).physical;
  const size_t n = size_t(p.dim()) - 1;
  set_layout(t, p.sizes().last(n), p.strides().last(n), 0);
}

}  // namespace vivace
