// Operators whose distribution is given by a tensor: bernoulli, multinomial, normal with tensors of means and
// deviations.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "generated/kernels/random/distributions.h"
#include "runtime/kernels/checks.h"
#include "runtime/random/fill.h"
#include "runtime/random/generator.h"
#include "runtime/random/order.h"

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

/// Columns in the order in which exponential races without replacement end: the largest p / q first.
template <class T>
void draw_without_replacement(RandomStream& stream, const T* p, int64_t* out, int64_t rows, int64_t columns,
                              int64_t n) {
  std::vector<T> keys(size_t(rows * columns));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double q = to_double(from_double<T>(-std::log1p(-stream.uniform_double())));
    keys[size_t(i)] = from_double<T>(to_double(p[i]) / q);
  }
  std::vector<int64_t> order(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r) {
    const T* key = keys.data() + r * columns;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int64_t a, int64_t b) {
      const double x = to_double(key[a]), y = to_double(key[b]);
      return x > y || (x == y && a < b);
    });
    std::copy(order.begin(), order.begin() + n, out + r * n);
  }
}

template <class T>
void draw_with_replacement(RandomStream& stream, const T* p, int64_t* out, int64_t rows, int64_t columns, int64_t n) {
  std::vector<T> cumulative(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r, p += columns, out += n) {
    T sum = from_double<T>(0);
    for (int64_t c = 0; c < columns; ++c) {
      sum = from_double<T>(to_double(sum) + to_double(p[c]));
      cumulative[size_t(c)] = sum;
    }
    for (T& x : cumulative) x = from_double<T>(to_double(x) / to_double(sum));
    cumulative.back() = from_double<T>(1);
    for (int64_t i = 0; i < n; ++i) {
      const double draw = stream.uniform_double();
      const auto at =
          std::partition_point(cumulative.begin(), cumulative.end(), [&](T x) { return to_double(x) < draw; });
      out[i] = at - cumulative.begin();
    }
  }
}

template <class T>
void check_weights(const T* p, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const double x = to_double(p[r * columns + c]);
      if (!(x >= 0) || std::isinf(x))
        fail("multinomial: probability tensor contains either `inf`, `nan` or element < 0");
      sum += x;
    }
    if (!(sum > 0)) fail("multinomial: invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

/// `mean` and `std` are of out's sizes and contiguous, mean of its dtype and std of its parts'; null stands for 0
/// and 1.
void scale_normals(Tensor& out, const Tensor* mean, const Tensor* std) {
  const int64_t parts = is_complex(out.dtype()) ? 2 : 1;
  visit_floating(real_of(out.dtype()), [&]<class T>() {
    T* x = out.data<T>();
    const T* m = mean ? mean->data<T>() : nullptr;
    const T* s = std ? std->data<T>() : nullptr;
    for (int64_t i = 0; i < out.numel() * parts; ++i) {
      if (s) x[i] = from_double<T>(to_double(x[i]) * to_double(s[i / parts]));
      if (m) x[i] = from_double<T>(to_double(x[i]) + to_double(m[i]));
    }
  });
}

TensorRef expanded(const Tensor& t, IntList sizes, DType dtype) {
  TensorRef full = empty(sizes, dtype);
  copy_into(*full, t);
  return full;
}

void check_deviations(const Tensor& std) {
  visit_floating(std.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < std.numel(); ++i) {
      if (!(to_double(std.data<T>()[i]) >= 0)) fail("normal expects all elements of std >= 0.0");
    }
  });
}

TensorRef normal_of(IntList sizes, DType dtype, Device device, const Tensor* mean, const Tensor* std, double scalar_std,
                    Object* generator) {
  if (!is_differentiable(dtype)) fail("normal expects floating point or complex tensors, got ", dtype);
  if (std && is_complex(std->dtype())) fail("normal expects standard deviation to be non-complex");
  TensorRef out = empty(sizes, dtype, device);
  if (out->is_meta()) return out;
  const TensorRef m = mean ? expanded(*mean, sizes, dtype) : TensorRef();
  const TensorRef s = std ? expanded(*std, sizes, real_of(dtype)) : TensorRef();
  if (s) check_deviations(*s);
  normal_(*out, 0, scalar_std, generator);
  scale_normals(*out, m.get(), s.get());
  return out;
}

}  // namespace

void bernoulli_tensor(Tensor& self, Tensor& p, Object* generator) {
  if (!is_floating(p.dtype())) fail("bernoulli_ expects a floating point tensor of probabilities, got ", p.dtype());
  kernels::broadcastable_to(p.sizes(), self.sizes());
  check_no_partial_overlap(self, p);
  if (is_complex(self.dtype())) fail_not_implemented("\"bernoulli_\" not implemented for '", self.dtype(), "'");
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  fill_in_order(self, [&](Tensor& dense) {
    const TensorRef weights = empty_like(dense, p.dtype());  // laid out as dense is
    copy_into(*weights, p);
    visit_floating(p.dtype(), [&]<class P>() {
      const P* w = weights->data<P>();
      for (int64_t i = 0; i < weights->numel(); ++i) {
        if (!(to_double(w[i]) >= 0 && to_double(w[i]) <= 1))
          fail("bernoulli expects all probabilities to be in [0, 1], but found ", to_double(w[i]));
      }
      visit_real(self.dtype(), [&]<class T>() {
        T* out = dense.data<T>();
        for (int64_t i = 0; i < dense.numel(); ++i) {
          bool yes;
          if constexpr (std::is_same_v<P, double>)
            yes = stream.uniform_double() < w[i];
          else
            yes = stream.uniform_float() < float(to_double(w[i]));
          out[i] = from_double<T>(yes);
        }
      });
    });
  });
}

TensorRef bernoulli(Tensor& self, Object* generator) {
  TensorRef out = empty(self.sizes(), self.dtype(), self.device());
  bernoulli_tensor(*out, self, generator);
  return out;
}

TensorRef bernoulli_p(Tensor& self, double p, Object* generator) {
  TensorRef out = empty(self.sizes(), self.dtype(), self.device());
  bernoulli_scalar(*out, p, generator);
  return out;
}

TensorRef multinomial(Tensor& self, int64_t num_samples, bool replacement, Object* generator) {
  if (self.dim() != 1 && self.dim() != 2) fail("multinomial: prob_dist must be 1 or 2 dim, got sizes ", self.sizes());
  if (!is_floating(self.dtype()))
    fail("multinomial only supports floating-point dtypes for input, got: ", self.dtype());
  if (num_samples <= 0) fail("multinomial: cannot sample n_sample <= 0 samples");
  const int64_t columns = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  if (!replacement && num_samples > columns)
    fail("multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TensorRef out = self.dim() == 2 ? empty({rows, num_samples}, DType::Int64, self.device())
                                  : empty({num_samples}, DType::Int64, self.device());
  if (out->is_meta() || out->numel() == 0) return out;
  const TensorRef weights = contiguous(self);
  RandomStream& stream = stream_of(generator);
  visit_floating(self.dtype(), [&]<class T>() {
    const T* p = weights->data<T>();
    check_weights(p, rows, columns);
    // A single column number is the winner of a race, with or without replacement.
    const auto draw = replacement && num_samples > 1 ? draw_with_replacement<T> : draw_without_replacement<T>;
    draw(stream, p, out->data<int64_t>(), rows, columns, num_samples);
  });
  return out;
}

TensorRef normal_tensors(Tensor& mean, Tensor& std, Object* generator) {
  const Dims sizes = broadcast_sizes(mean.sizes(), std.sizes());
  return normal_of(sizes, mean.dtype(), mean.device(), &mean, &std, 1, generator);
}

TensorRef normal_means(Tensor& mean, double std, Object* generator) {
  return normal_of(mean.sizes(), mean.dtype(), mean.device(), &mean, nullptr, std, generator);
}

TensorRef normal_deviations(double mean, Tensor& std, Object* generator) {
  TensorRef out = normal_of(std.sizes(), std.dtype(), std.device(), nullptr, &std, 1, generator);
  if (mean == 0 || out->is_meta()) return out;
  const TensorRef means = empty(out->sizes(), out->dtype());
  fill_into(*means, mean);
  scale_normals(*out, means.get(), nullptr);
  return out;
}

}  // namespace vivace::kernels
