// Operators that fill a tensor with random numbers, in the order of memory.
#include <cmath>
#include <limits>
#include <numbers>

#include "generated/kernels/random/distributions.h"
#include "runtime/random/fill.h"
#include "runtime/random/generator.h"
#include "runtime/random/order.h"

namespace vivace::kernels {

using namespace random;

namespace {

[[noreturn]] void fail_dtype(std::string_view op, DType dtype) {
  fail_not_implemented("\"", op, "\" not implemented for '", dtype, "'");
}

void check_floating(std::string_view op, const Tensor& t) {
  if (!is_floating(t.dtype())) fail_dtype(op, t.dtype());
}

void check_floating_or_complex(std::string_view op, const Tensor& t) {
  if (!is_differentiable(t.dtype())) fail_dtype(op, t.dtype());
}

/// Unsigned types wider than a byte, and complex ones, have no kernel in PyTorch either.
void check_common_real(std::string_view op, const Tensor& t) {
  const DType d = t.dtype();
  if (is_complex(d) || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64) fail_dtype(op, d);
}

void check_range(const Tensor& t, int64_t from, int64_t last) {
  const DType d = t.dtype();
  if (is_complex(d)) fail_dtype("random_", d);
  if (d == DType::Int64) return;
  const double high = double(last_exact(d));
  const double low = is_floating(d) ? -high : is_signed(d) ? -high - 1 : 0;
  if (double(from) < low || double(from) > high) fail("from is out of bounds for ", d);
  if (double(last) < low || double(last) > high) fail("to - 1 is out of bounds for ", d);
}

/// The integer draws of random_: `range` of them from `from` on, or all 2^64 if range is 0.
void fill_integers(Tensor& self, RandomStream& stream, uint64_t range, int64_t from) {
  visit_real(self.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      fill_each<T>(self, [&] { return integer(stream, range, from) != 0; });
    } else if constexpr (std::is_integral_v<T>) {
      fill_each<T>(self, [&] { return T(integer(stream, range, from)); });
    } else {
      fill_each<T>(self, [&] { return from_double<T>(double(integer(stream, range, from))); });
    }
  });
}

template <class T>
void fill_uniform(Tensor& self, RandomStream& stream, double from, double to) {
  fill_in_order(self, [&](Tensor& dense) { random::uniform(stream, dense.data<T>(), count_reals(dense), from, to); });
}

template <class H>
void fill_uniform_half(Tensor& self, RandomStream& stream, double from, double to) {
  const H first = from_double<H>(from), end = from_double<H>(to);
  fill_each<H>(self, [&] {
    float x;
    random::uniform(stream, &x, 1, from, to);
    const H rounded = from_double<H>(x);
    return rounded.bits == end.bits ? first : rounded;
  });
}

template <class T>
void fill_normal(Tensor& self, RandomStream& stream, double mean, double std) {
  const int64_t n = count_reals(self);
  if (n < kNormalBlock || !self.is_contiguous())
    return fill_each<T>(self, [&] { return from_double<T>(stream.normal() * std + mean); });
  if constexpr (sizeof(T) == 2) {
    random::normal_half(stream, self.data<T>(), n, mean, std, from_double<T>);
  } else {
    random::normal(stream, self.data<T>(), n, mean, std);
  }
}

}  // namespace

void uniform_(Tensor& self, double from, double to, Object* generator) {
  check_floating_or_complex("uniform_", self);
  if (from > to) fail("uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  const DType real = real_of(self.dtype());
  const double most = real == DType::Float64   ? std::numeric_limits<double>::max()
                      : real == DType::Float16 ? 65504.0
                                               : double(std::numeric_limits<float>::max());
  if (!(to - from <= most))
    fail("uniform_ expects to - from to be finite in ", real, ", but found to=", to, " and from=", from);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  switch (real) {
    case DType::Float16:
      return fill_uniform_half<Half>(self, stream, from, to);
    case DType::BFloat16:
      return fill_uniform_half<BFloat16>(self, stream, from, to);
    case DType::Float32:
      return fill_uniform<float>(self, stream, from, to);
    default:
      return fill_uniform<double>(self, stream, from, to);
  }
}

void normal_(Tensor& self, double mean, double std, Object* generator) {
  check_floating_or_complex("normal_", self);
  if (!(std >= 0)) fail("normal_ expects std >= 0.0, but found std ", std);
  if (self.is_meta()) return;
  if (is_complex(self.dtype())) std *= std::numbers::sqrt2 / 2;  // half of the variance for each part
  visit_floating(real_of(self.dtype()), [&]<class T>() { fill_normal<T>(self, stream_of(generator), mean, std); });
}

void random_(Tensor& self, Object* generator) {
  check_common_real("random_", self);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  const DType d = self.dtype();
  const uint64_t range = last_exact(d) + 1;
  const bool wide = d == DType::Int64 || d == DType::Float64;
  visit_real(d, [&]<class T>() {
    fill_each<T>(self, [&] {
      const uint64_t draw = (wide ? stream.next64() : stream.next32()) % range;
      if constexpr (std::is_integral_v<T>)
        return T(draw);
      else
        return from_double<T>(double(draw));
    });
  });
}

void random_from(Tensor& self, int64_t from, std::optional<int64_t> to, Object* generator) {
  uint64_t range;
  if (to) {
    if (from >= *to) fail("random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", *to);
    check_range(self, from, *to - 1);
    range = uint64_t(*to) - uint64_t(from);
  } else if (from == std::numeric_limits<int64_t>::min()) {
    check_common_real("random_", self);
    range = 0;
  } else {
    // Up to the largest value that the type holds without gaps.
    check_range(self, from, from);
    range = last_exact(self.dtype()) - uint64_t(from) + 1;
  }
  if (!self.is_meta()) fill_integers(self, stream_of(generator), range, from);
}

void random_to(Tensor& self, int64_t to, Object* generator) { random_from(self, 0, to, generator); }

void bernoulli_scalar(Tensor& self, double p, Object* generator) {
  check_common_real("bernoulli_", self);
  if (!(p >= 0 && p <= 1)) fail("bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  visit_real(self.dtype(), [&]<class T>() {
    const T yes = from_double<T>(1), no = from_double<T>(0);
    fill_in_order(self,
                  [&](Tensor& dense) { random::bernoulli<T>(stream, dense.data<T>(), dense.numel(), p, yes, no); });
  });
}

void exponential_(Tensor& self, double lambd, Object* generator) {
  check_floating("exponential_", self);
  if (!(lambd > 0)) fail("exponential_ expects lambda > 0.0, but found lambda=", lambd);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  visit_floating(self.dtype(), [&]<class T>() {
    fill_each<T>(self, [&] { return from_double<T>(-1 / lambd * std::log1p(-stream.uniform_double())); });
  });
}

void geometric_(Tensor& self, double p, Object* generator) {
  check_common_real("geometric_", self);
  if (is_bool(self.dtype())) fail_dtype("geometric_", self.dtype());
  if (!(p > 0 && p < 1)) fail("geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  const double log_failure = std::log1p(-p);
  visit_real(self.dtype(), [&]<class T>() {
    fill_each<T>(self, [&] { return from_double<T>(std::ceil(std::log(stream.uniform_double()) / log_failure)); });
  });
}

void log_normal_(Tensor& self, double mean, double std, Object* generator) {
  check_floating("log_normal_", self);
  if (!(std > 0)) fail("log_normal_ expects std > 0.0, but found std=", std);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  visit_floating(self.dtype(), [&]<class T>() {
    fill_each<T>(self, [&] { return from_double<T>(std::exp(stream.normal() * std + mean)); });
  });
}

void cauchy_(Tensor& self, double median, double sigma, Object* generator) {
  check_floating("cauchy_", self);
  if (!(sigma > 0)) fail("cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  if (self.is_meta()) return;
  RandomStream& stream = stream_of(generator);
  visit_floating(self.dtype(), [&]<class T>() {
    fill_each<T>(self, [&] {
      return from_double<T>(median + sigma * std::tan(std::numbers::pi * (stream.uniform_double() - 0.5)));
    });
  });
}

}  // namespace vivace::kernels
