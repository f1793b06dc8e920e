// Derivatives of joins, indexing and sorting.
#include "generated/kernels.h"
#include "generated/ops.h"

namespace vivace::formulas {

std::vector<TensorRef> cat_backward(Tensor& g, TensorList tensors, int64_t dim) {
  std::vector<TensorRef> parts;
  parts.reserve(tensors.size());
  const int64_t d = wrap_dim(dim, g.dim());
  int64_t start = 0;
  for (Tensor* t : tensors) {
    if (t->dim() == 1 && t->numel() == 0) {
      parts.push_back(ops::zeros(t->sizes(), g.dtype(), g.device()));
      continue;
    }
    const int64_t length = t->size(d);
    parts.push_back(ops::narrow(g, d, start, length));
    start += length;
  }
  return parts;
}
std::vector<TensorRef> stack_backward(Tensor& g, TensorList, int64_t dim) { return ops::unbind_int(g, dim); }

TensorRef repeat_backward(Tensor& g, IntList self_sizes, IntList repeats) {
  if (g.numel() == 0) return ops::zeros(self_sizes, g.dtype(), g.device());
  Dims pairs, repeated;
  const int lead = int(repeats.size() - self_sizes.size());
  for (int d = 0; d < int(repeats.size()); ++d) {
    if (d < lead || repeats[d] != 1) {
      repeated.push(pairs.n);
      pairs.push(repeats[d]);
    }
    if (d >= lead) pairs.push(self_sizes[d - lead]);
  }
  if (repeated.n == 0) return TensorRef::share(&g);
  if (pairs.n > kMaxDims) fail("repeat: too many dims to differentiate");
  return ops::sum_dim_IntList(*ops::reshape(g, pairs), IntList(repeated), false, std::nullopt);
}

TensorRef roll_backward(Tensor& g, IntList shifts, IntList dims) {
  Dims back(shifts);
  for (int64_t& s : back) s = -s;
  return ops::roll(g, back, dims);
}

}  // namespace vivace::formulas
