// log(sum(exp(x))) as m + log(sum(exp(x - m))) with m the largest element.
#include <cmath>

#include "generated/kernels/reduce/sums.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/fold.h"
#include "runtime/kernels/reduce.h"

namespace vivace {

TensorRef meta::logsumexp(Tensor& self, IntList dim, bool keepdim) {
  if (is_complex(self.dtype())) fail("logsumexp(): complex inputs are not supported yet");
  const DType dtype = is_floating(self.dtype()) ? self.dtype() : default_dtype;
  return empty(kernels::reduced_sizes(self, dim_mask(dim, self.dim()), keepdim), dtype, self.device());
}

void kernels::logsumexp(Tensor& self, IntList dim, bool, Tensor& out) {
  const uint64_t mask = dim_mask(dim, self.dim());
  const DType compute = compute_of(out.dtype());
  const TensorRef shifted = empty(self.sizes(), compute), largest = empty(reduced_sizes(self, mask, true), compute);
  copy_into(*shifted, self);
  if (self.numel() > 0)
    fold(Fold::Max, *shifted, compute, *largest, mask);
  else
    fill_into(*largest, 0);
  const Nest<2> nest = make_nest<2>(shifted->sizes(), {shifted.get(), largest.get()});
  const TensorRef sums = empty(out.sizes(), compute);
  visit(compute, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T* top = largest->data<T>();
      for (int64_t i = 0; i < largest->numel(); ++i)
        if (std::isinf(top[i])) top[i] = 0;
      nest.run([](char** p, int64_t n, const int64_t* s) {
        for (int64_t i = 0; i < n; ++i) {
          T& x = *reinterpret_cast<T*>(p[0] + i * s[0]);
          x = std::exp(x - *reinterpret_cast<T*>(p[1] + i * s[1]));
        }
      });
      fold(Fold::Sum, *shifted, compute, *sums, mask);
      T* to = sums->data<T>();
      for (int64_t i = 0; i < sums->numel(); ++i) to[i] = std::log(to[i]) + top[i];
      copy_into(out, *sums);
    }
  });
}

}  // namespace vivace
