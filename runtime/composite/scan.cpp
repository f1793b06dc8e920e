// Differences of neighbours.
#include <algorithm>

#include "generated/kernels/scan/cumulative.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/index/join.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/view/parts.h"

namespace vivace::composite {

TensorRef diff(Tensor& self, int64_t n, int64_t dim, Tensor* prepend, Tensor* append) {
  if (self.dim() == 0) fail("diff expects input to be at least one-dimensional");
  if (n < 0) fail("order must be non-negative but got ", n);
  const int64_t d = wrap_dim(dim, self.dim());
  if (n == 0) return ops::clone(self, std::nullopt);
  TensorRef x = TensorRef::share(&self);
  if (prepend || append) {
    Tensor* parts[3];
    size_t count = 0;
    if (prepend) parts[count++] = prepend;
    parts[count++] = &self;
    if (append) parts[count++] = append;
    for (size_t i = 0; i < count; ++i)
      if (parts[i]->dim() != self.dim()) fail("diff expects prepend or append to be the same dimension as input");
    x = ops::cat(TensorList(parts, count), d);
  }
  for (n = std::min(n, x->size(d)); n > 0; --n) {
    const int64_t rest = std::max<int64_t>(x->size(d) - 1, 0);
    const TensorRef after = ops::narrow(*x, d, x->size(d) - rest, rest), before = ops::narrow(*x, d, 0, rest);
    x = is_bool(x->dtype()) ? ops::logical_xor(*after, *before) : ops::sub_Tensor(*after, *before, Scalar(1));
  }
  return x;
}

}  // namespace vivace::composite
