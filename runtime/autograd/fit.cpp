// See fit.h.
#include "runtime/autograd/fit.h"

#include <algorithm>

#include "generated/ops/factory/convert.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/grad.h"

namespace vivace {
namespace {

[[noreturn, gnu::cold]] void refuse_gradient(const Node* from, uint32_t index, const Tensor& g, IntList sizes) {
  if (!from) fail("backward: got a gradient of shape ", g.sizes(), " for a tensor of shape ", sizes);
  fail("Function ", from->info->name, " returned an invalid gradient at index ", index, " - got ", g.sizes(),
       " but expected shape compatible with ", sizes);
}

}  // namespace

TensorRef fit(TensorRef grad, IntList sizes, DType dtype, const Node* from, uint32_t index) {
  Tensor& g = *grad;
  if (!std::ranges::equal(g.sizes(), sizes)) {
    bool fits = g.ndim_ >= sizes.size();
    for (size_t k = 1; fits && k <= sizes.size(); ++k) {
      const int64_t want = sizes[sizes.size() - k];
      fits = want == 1 || want == g.dims_[g.ndim_ - k];
    }
    if (!fits) refuse_gradient(from, index, g, sizes);
    grad = sum_to_size(g, sizes);
  }
  if (grad->dtype() != dtype) {
    if (is_complex(grad->dtype()) && !is_complex(dtype)) grad = ops::real(*grad);
    if (grad->dtype() != dtype) grad = ops::_to_copy(*grad, dtype);
  }
  return grad;
}

TensorRef sum_to_size(Tensor& g, IntList sizes) {
  const int lead = g.ndim_ - int(sizes.size());
  Dims dims;
  for (int d = 0; d < lead; ++d) dims.push(d);
  for (int d = lead; d < g.ndim_; ++d)
    if (sizes[size_t(d - lead)] == 1 && g.dims_[d] != 1) dims.push(d);
  TensorRef sum = dims.n ? ops::sum_dim_IntList(g, IntList(dims), true, std::nullopt) : TensorRef::share(&g);
  return lead > 0 ? ops::view(*sum, sizes) : sum;
}

}  // namespace vivace
