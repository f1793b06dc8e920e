// log(sum(exp(x))) as m + log(sum(exp(x - m))) with m the largest element, or real part of one.
#include <cmath>

#include "generated/kernels/reduce/sums.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/fold.h"
#include "runtime/kernels/reduce.h"

namespace vivace {
namespace {

template <class T>
T shifted_exp(T x, T top) {
  return std::exp(x - top);
}
template <class T>
Complex<T> shifted_exp(Complex<T> x, T top) {
  const T size = std::exp(x.re - top);
  return {size * std::cos(x.im), x.im == 0 ? 0 : size * std::sin(x.im)};  // not inf * 0
}

template <class T>
T shifted_log(T x, T top) {
  return std::log(x) + top;
}
template <class T>
Complex<T> shifted_log(Complex<T> x, T top) {
  return {std::log(std::hypot(x.re, x.im)) + top, std::atan2(x.im, x.re)};
}

}  // namespace

TensorRef meta::logsumexp(Tensor& self, IntList dim, bool keepdim) {
  const DType dtype = is_differentiable(self.dtype()) ? self.dtype() : default_dtype;
  return empty(kernels::reduced_sizes(self, dim_mask(dim, self.dim()), keepdim), dtype, self.device());
}

void kernels::logsumexp(Tensor& self, IntList dim, bool, Tensor& out) {
  const uint64_t mask = dim_mask(dim, self.dim());
  const DType compute = compute_of(out.dtype()), real = real_of(compute);
  const TensorRef shifted = empty(self.sizes(), compute), largest = empty(reduced_sizes(self, mask, true), real);
  copy_into(*shifted, self);
  if (self.numel() > 0)
    fold(Fold::Max, *to_dtype(*shifted, real), real, *largest, mask);
  else
    fill_into(*largest, 0);
  const Nest<2> nest = make_nest<2>(shifted->sizes(), {shifted.get(), largest.get()});
  const TensorRef sums = empty(out.sizes(), compute);
  visit(real, [&]<class R>() {
    if constexpr (std::is_floating_point_v<R>) {
      R* top = largest->data<R>();
      for (int64_t i = 0; i < largest->numel(); ++i)
        if (std::isinf(top[i])) top[i] = 0;
      const auto run = [&]<class T>(const T*) {
        nest.run([](char** p, int64_t n, const int64_t* s) {
          for (int64_t i = 0; i < n; ++i) {
            T& x = *reinterpret_cast<T*>(p[0] + i * s[0]);
            x = shifted_exp(x, *reinterpret_cast<R*>(p[1] + i * s[1]));
          }
        });
        fold(Fold::Sum, *shifted, compute, *sums, mask);
        T* to = sums->data<T>();
        for (int64_t i = 0; i < sums->numel(); ++i) to[i] = shifted_log(to[i], top[i]);
      };
      is_complex(compute) ? run(static_cast<const Complex<R>*>(nullptr)) : run(static_cast<const R*>(nullptr));
      copy_into(out, *sums);
    }
  });
}

}  // namespace vivace
