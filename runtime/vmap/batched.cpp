// Batched tensors, and the levels of the thread.
#include "runtime/vmap/batched.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

void refresh_layout(Tensor& t) {
  const Tensor& p = *batch_of(t).physical;
  const size_t n = size_t(p.dim()) - 1;
  set_layout(t, p.sizes().last(n), p.strides().last(n), 0);
}

}  // namespace vivace
