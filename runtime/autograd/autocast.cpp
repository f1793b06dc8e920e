// A weight that is cast in a region is cast once: the copies of leaves that require grad are kept until the outermost
// region ends. One that was made without recording serves only where nothing is recorded, and none a weight that
// changed since.
#include "runtime/autograd/autocast.h"

#include <unordered_map>
#include <vector>

#include "generated/ops/factory/convert.h"
#include "runtime/core/promote.h"

namespace vivace {

thread_local constinit AutocastState autocast_state;

namespace {

struct CastWeight {
  TensorRef weight, cast;
  uint32_t version;  // of the weight
  bool recorded;
};
using CastWeights = std::unordered_map<const Tensor*, CastWeight>;

/// Never destroyed: at the end of the process its tensors are the interpreter's business.
CastWeights& cast_weights() {
  static auto& weights = *new CastWeights;
  return weights;
}

bool is_eligible(const Tensor& t) {
  return t.device().type == DeviceType::CPU && is_floating(t.dtype()) && t.dtype() != DType::Float64;
}

TensorRef cast(Tensor& t, DType dtype) { return ops::to_dtype(t, dtype, false, false, std::nullopt); }

bool is_weight(const Tensor& t, DType dtype) {
  return autocast_state.cache && dtype == autocast_state.dtype && t.dtype() == DType::Float32 && t.requires_grad() &&
         t.is_leaf() && !t.base;
}

TensorRef cached_cast(Tensor& t, DType dtype) {
  if (!is_eligible(t) || t.dtype() == dtype) return TensorRef::share(&t);
  if (!is_weight(t, dtype)) return cast(t, dtype);
  CastWeight& entry = cast_weights()[&t];
  const bool fits = entry.cast && entry.version == *t.version_ && entry.cast->dtype() == dtype;
  if (!fits || (tls.grad_mode && !entry.recorded))
    entry = {TensorRef::share(&t), cast(t, dtype), *t.version_, tls.grad_mode};
  return entry.cast;
}

/// Calls f with each tensor among the arguments, in lists too, and where its pointer is.
template <class F>
void for_each_tensor(const Op& op, Value* args, F&& f) {
  for (uint32_t m = op.tensor_args; m; m &= m - 1) {
    Tensor*& t = args[__builtin_ctz(m)].tensor;
    if (t) f(t);
  }
  for (uint32_t m = op.list_args; m; m &= m - 1) {
    const Value& list = args[__builtin_ctz(m)];
    for (int64_t i = 0; i < list.count; ++i) {
      auto& t = const_cast<Tensor*&>(list.tensors[i]);
      if (t) f(t);
    }
  }
}

/// The call with floating arguments in `dtype`, whose array it changes.
Object* call_in(const Op& op, Value* args, DType dtype) {
  const AutocastOffGuard off;
  std::vector<TensorRef> owned;
  std::vector<std::vector<Tensor*>> lists;
  for (uint32_t m = op.list_args; m; m &= m - 1) {
    Value& list = args[__builtin_ctz(m)];
    lists.emplace_back(list.tensors, list.tensors + list.count);
    list.tensors = lists.back().data();
  }
  for_each_tensor(op, args, [&](Tensor*& t) {
    owned.push_back(cached_cast(*t, dtype));
    t = owned.back().get();
  });
  return dispatch(op, gather_keys(op, args), args);
}

}  // namespace

void clear_autocast_cache() {
  CastWeights dropped;
  dropped.swap(cast_weights());
}

TensorRef in_float32(Tensor& t) { return cached_cast(t, DType::Float32); }

Object* autocast_lower(const Op& op, KeySet, Value* args) { return call_in(op, args, autocast_state.dtype); }
Object* autocast_float32(const Op& op, KeySet, Value* args) { return call_in(op, args, DType::Float32); }

Object* autocast_promote(const Op& op, KeySet, Value* args) {
  DType widest = autocast_state.dtype;
  for_each_tensor(op, args, [&](Tensor* t) {
    if (is_eligible(*t)) widest = promote_types(widest, t->dtype());
  });
  return call_in(op, args, widest);
}

}  // namespace vivace
