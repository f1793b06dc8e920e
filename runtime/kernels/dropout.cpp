// Dropout's masks, drawn from the default stream as PyTorch draws them.
#include "generated/kernels/nn/dropout.h"
#include "runtime/kernels/arith.h"
#include "runtime/random/fill.h"
#include "runtime/random/generator.h"

namespace vivace {
namespace {

template <class T>
T kept_scale(double p) {
  return p == 1 ? T(0) : T(1) / T(1 - p);
}

void draw(Tensor& out, double p) {
  kernels::visit_floating(out.dtype(), "dropout", [&]<class T>() {
    random::bernoulli(default_stream(), out.data<T>(), out.numel(), 1 - p,
                      kernels::narrow<T>(kept_scale<kernels::Wide<T>>(p)), T{});
  });
}

}  // namespace

namespace meta {

TensorRef scaled_mask(Tensor& input, IntList size, double) {
  if (!is_floating(input.dtype()))
    fail("dropout: result type Float can't be cast to the desired output type ", input.dtype());
  return empty(size, input.dtype(), input.device());
}
std::tuple<TensorRef, TensorRef> masked_by_chance(Tensor& input, double p) {
  scaled_mask(input, Dims{0}, p);
  return {empty_like(input), empty_like(input)};
}

}  // namespace meta

namespace kernels {

void scaled_mask(Tensor&, IntList, double p, Tensor& out) { draw(out, p); }

void masked_by_chance(Tensor& input, double p, Tensor& out, Tensor& mask) {
  draw(mask, p);
  TensorRef x = TensorRef::share(&input);
  if (!same_layout(input, out)) copy_into(*(x = empty_like(out)), input);
  visit_floating(out.dtype(), "dropout", [&]<class T>() {
    using W = Wide<T>;
    const T *a = x->data<T>(), *m = mask.data<T>();
    for (int64_t i = 0; i < out.numel(); ++i) out.data<T>()[i] = narrow<T>(W(widen<W>(a[i]) * widen<W>(m[i])));
  });
}

}  // namespace kernels
}  // namespace vivace
