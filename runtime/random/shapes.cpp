// Operators over runtime/random/rejection.h and slopes.h: each element is drawn by the parameters at its place.
#include <algorithm>
#include <limits>

#include "generated/kernels/random/rejection.h"
#include "runtime/random/generator.h"
#include "runtime/random/order.h"
#include "runtime/random/rejection.h"
#include "runtime/random/slopes.h"

namespace vivace::kernels {

using namespace random;

namespace {

template <class T>
double to_double(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return double(x);
  else
    return to_float(x);
}

void check_floating(std::string_view op, const Tensor& t) {
  if (!is_floating(t.dtype())) fail_not_implemented("\"", op, "\" not implemented for '", t.dtype(), "'");
}

/// A new contiguous tensor with draw(x) for each element x of self, row by row.
template <class Draw>
TensorRef draw_each(std::string_view op, Tensor& self, Draw draw) {
  check_floating(op, self);
  TensorRef out = empty(self.sizes(), self.dtype(), self.device());
  if (out->is_meta()) return out;
  const TensorRef parameters = empty_like(*out);
  copy_into(*parameters, self);
  visit_floating(self.dtype(), [&]<class T>() {
    const T* x = parameters->data<T>();
    T* y = out->data<T>();
    for (int64_t i = 0; i < out->numel(); ++i) y[i] = from_double<T>(draw(to_double(x[i])));
  });
  return out;
}

/// The smallest normal number of a floating dtype: what samples that must be positive are raised to.
double least_normal(DType t) {
  if (t == DType::Float64) return std::numeric_limits<double>::min();
  return t == DType::Float16 ? 0x1p-14 : double(std::numeric_limits<float>::min());
}

TensorRef expanded(const Tensor& t, IntList sizes) {
  TensorRef full = empty(sizes, DType::Float64);
  copy_into(*full, t);
  return full;
}

}  // namespace

TensorRef standard_gamma(Tensor& self, Object* generator) {
  const double least = least_normal(self.dtype());
  RandomStream& stream = stream_of(generator);
  return draw_each("_standard_gamma", self, [&](double alpha) { return std::max(least, gamma(stream, alpha)); });
}

TensorRef standard_gamma_grad(Tensor& self, Tensor& output) {
  check_floating("_standard_gamma_grad", self);
  const Dims sizes = broadcast_sizes(self.sizes(), output.sizes());
  TensorRef out = empty(sizes, self.dtype(), self.device());
  if (out->is_meta()) return out;
  const TensorRef alpha = expanded(self, sizes), x = expanded(output, sizes);
  visit_floating(self.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < out->numel(); ++i)
      out->data<T>()[i] = from_double<T>(gamma_slope(alpha->data<double>()[i], x->data<double>()[i]));
  });
  return out;
}

TensorRef sample_dirichlet(Tensor& self, Object* generator) {
  check_floating("_sample_dirichlet", self);
  if (self.dim() == 0) fail("_sample_dirichlet expects at least one dimension of concentrations");
  TensorRef out = empty(self.sizes(), self.dtype(), self.device());
  if (out->is_meta() || out->numel() == 0) return out;
  const TensorRef parts = expanded(self, self.sizes());
  RandomStream& stream = stream_of(generator);
  const int64_t columns = self.size(-1);
  const double least = least_normal(self.dtype());
  visit_floating(self.dtype(), [&]<class T>() {
    for (int64_t row = 0; row < out->numel(); row += columns) {
      double* x = parts->data<double>() + row;
      double sum = 0;
      for (int64_t i = 0; i < columns; ++i) sum += x[i] = gamma(stream, x[i]);
      for (int64_t i = 0; i < columns; ++i) out->data<T>()[row + i] = from_double<T>(std::max(least, x[i] / sum));
    }
  });
  return out;
}

TensorRef dirichlet_grad(Tensor& x, Tensor& alpha, Tensor& total) {
  check_floating("_dirichlet_grad", x);
  const Dims sizes = broadcast_sizes(broadcast_sizes(x.sizes(), alpha.sizes()), total.sizes());
  TensorRef out = empty(sizes, x.dtype(), x.device());
  if (out->is_meta()) return out;
  const TensorRef at = expanded(x, sizes), own = expanded(alpha, sizes), all = expanded(total, sizes);
  visit_floating(x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < out->numel(); ++i) {
      const double slope = beta_slope(at->data<double>()[i], own->data<double>()[i], all->data<double>()[i]);
      out->data<T>()[i] = from_double<T>(slope);
    }
  });
  return out;
}

TensorRef poisson(Tensor& self, Object* generator) {
  RandomStream& stream = stream_of(generator);
  return draw_each("poisson", self, [&](double rate) {
    if (!(rate >= 0)) fail("invalid Poisson rate, expected rate to be non-negative");
    return random::poisson(stream, rate);
  });
}

TensorRef binomial(Tensor& count, Tensor& prob, Object* generator) {
  if (!is_floating(count.dtype()))
    fail_value("binomial only supports floating-point dtypes for count, got: ", scalar_type_name(count.dtype()));
  if (count.dtype() != prob.dtype())
    fail("binomial expects count and prob to have the same dtype, got ", count.dtype(), " and ", prob.dtype());
  const Dims sizes = broadcast_sizes(count.sizes(), prob.sizes());
  TensorRef out = empty(sizes, count.dtype(), count.device());
  if (out->is_meta()) return out;
  const TensorRef trials = expanded(count, sizes), p = expanded(prob, sizes);
  RandomStream& stream = stream_of(generator);
  visit_floating(count.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < out->numel(); ++i) {
      const double n = trials->data<double>()[i];
      out->data<T>()[i] = from_double<T>(random::binomial(stream, n, p->data<double>()[i]));
    }
  });
  return out;
}

}  // namespace vivace::kernels
