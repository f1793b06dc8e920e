// The cross product of vectors of length 3 along any dim.
#include "generated/kernels/linalg/tensors.h"
#include "runtime/kernels/arith.h"

namespace vivace {

namespace meta {

TensorRef linalg_cross(Tensor& self, Tensor& other, int64_t dim) {
  if (self.dtype() != other.dtype())
    fail("linalg.cross: expected scalar type ", self.dtype(), " but found ", other.dtype());
  if (is_bool(self.dtype())) fail_not_implemented("\"cross\" not implemented for 'Bool'");
  if (self.dim() != other.dim()) fail("linalg.cross: inputs must have the same number of dimensions.");
  if (self.dim() == 0) fail_index("Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.sizes()[d] != 3 || other.sizes()[d] != 3)
    fail("linalg.cross: inputs dimension ", dim, " must have length 3. Got ", self.sizes()[d], " and ",
         other.sizes()[d]);
  return empty(broadcast_sizes(self.sizes(), other.sizes()), self.dtype(), self.device());
}

}  // namespace meta

namespace kernels {
namespace {

/// Integers wrap.
template <class T>
using Work = std::conditional_t<std::is_integral_v<T>, uint64_t, Wide<T>>;

/// a * b - c * d.
template <class A>
A cross_term(A a, A b, A c, A d) {
  const A x = mul(a, b), y = mul(c, d);
  if constexpr (is_complex_type<A>)
    return {x.re - y.re, x.im - y.im};
  else
    return x - y;
}

/// t with the sizes of `out`, without gaps.
TensorRef spread(const Tensor& t, const Tensor& out) {
  if (t.is_contiguous() && t.numel() == out.numel()) return TensorRef::share(const_cast<Tensor*>(&t));
  TensorRef wide = empty(out.sizes(), out.dtype());
  copy_into(*wide, t);
  return wide;
}

}  // namespace

void linalg_cross(Tensor& self, Tensor& other, int64_t dim, Tensor& out) {
  if (out.numel() == 0) return;
  const TensorRef x = spread(self, out), y = spread(other, out);
  const int64_t step = count(out.sizes().subspan(size_t(wrap_dim(dim, out.dim())) + 1));
  visit(out.dtype(), [&]<class T>() {
    const auto part = [](const T* a, const T* b, int64_t i, int64_t j) {
      const auto wide = [](T x) { return widen<Work<T>>(x); };
      return narrow<T>(cross_term(wide(a[i]), wide(b[j]), wide(a[j]), wide(b[i])));
    };
    for (int64_t at = 0; at < out.numel(); at += 3 * step)
      for (int64_t i = at; i < at + step; ++i) {
        const T *a = x->data<T>() + i, *b = y->data<T>() + i;
        T* c = out.data<T>() + i;
        c[0] = part(a, b, step, 2 * step);
        c[step] = part(a, b, 2 * step, 0);
        c[2 * step] = part(a, b, 0, step);
      }
  });
}

}  // namespace kernels
}  // namespace vivace
