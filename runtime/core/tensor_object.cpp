// Rare parts of a tensor, and version counters that it does not share with its storage.
#include "runtime/core/tensor_object.h"

namespace vivace {

TensorExtra& extra(Tensor& t) {
  if (!t.extra) t.extra = new TensorExtra;
  return *t.extra;
}

void adopt_version(Tensor& v, const Tensor& t) {
  SharedVersion* shared = t.extra->own_version;
  ++shared->refcount;
  extra(v).own_version = shared;
  v.version_ = &shared->version;
}

void detach_version(Tensor& t) {
  TensorExtra& e = extra(t);
  if (e.own_version && --e.own_version->refcount == 0) delete e.own_version;
  e.own_version = new SharedVersion{0, 1};
  t.version_ = &e.own_version->version;
}

}  // namespace vivace
