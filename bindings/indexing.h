// Subscripts as operations on tensors.
#pragma once
#include "bindings/index_key.h"
#include "runtime/autograd/view.h"

namespace vivace {

/// Whether a view of t may be made without the dispatcher: no key, mode or stale history asks for more.
inline bool makes_plain_views(const Tensor& t) {
  return (t.keys & ~(kBackendKeys | bit(Key::View))) == 0 && tls.include == 0 && !view_is_stale(t);
}

/// Applies the ints, slices and new axes of a key; arrays leave their dims as they are, with null or the array in
/// `arrays` for each dim of the result (a mask stands once for all its dims).
TensorRef apply_basic(Tensor& t, const IndexKey& key, std::vector<Tensor*>* arrays);

}  // namespace vivace
