// What generated derivatives are written with: storing gradients, arithmetic on saved numbers.
#pragma once
#include <cmath>
#include <tuple>
#include <vector>

#include "runtime/autograd/node.h"

namespace vivace {

// ---- storing what a formula returns: one gradient per edge, from `out` on

inline void store(Tensor** out, TensorRef gradient) { *out = gradient.release(); }
inline void store(Tensor** out, std::vector<TensorRef> gradients) {
  for (TensorRef& g : gradients) *out++ = g.release();
}
template <class... T>
inline void store(Tensor** out, std::tuple<T...> gradients) {
  std::apply([&](auto&... g) { ((*out++ = g.release()), ...); }, gradients);
}
/// The gradient as it came.
inline Tensor* share(Tensor* t) {
  Py_XINCREF(t);
  return t;
}

/// A number where an operator wants a tensor: 0-dim, of the dtype that it would have beside `like`.
inline TensorRef number_like(const Tensor& like, const Scalar& x) {
  const DType dtype = x.is_bool()                                   ? DType::Bool
                      : x.is_complex() && !is_complex(like.dtype()) ? complex_of(like.dtype())
                                                                    : like.dtype();
  return scalar_tensor(x, dtype, like.device());
}

// ---- numbers: integers stay integers, except in quotients

template <class Integers, class Reals>
inline Scalar combine(const Scalar& a, const Scalar& b, Integers integers, Reals reals) {
  if (a.is_integral() && b.is_integral() && !a.is_above_int64() && !b.is_above_int64())
    return Scalar(int64_t(integers(uint64_t(a.i), uint64_t(b.i))));  // wraps
  return Scalar(double(reals(a.to_double(), b.to_double())));
}
inline bool either_complex(const Scalar& a, const Scalar& b) { return a.is_complex() || b.is_complex(); }

inline Scalar operator+(const Scalar& a, const Scalar& b) {
  if (either_complex(a, b)) return Scalar(a.to_double() + b.to_double(), a.imag_part() + b.imag_part());
  return combine(a, b, [](uint64_t x, uint64_t y) { return x + y; }, [](double x, double y) { return x + y; });
}
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  if (either_complex(a, b)) return Scalar(a.to_double() - b.to_double(), a.imag_part() - b.imag_part());
  return combine(a, b, [](uint64_t x, uint64_t y) { return x - y; }, [](double x, double y) { return x - y; });
}
inline Scalar operator*(const Scalar& a, const Scalar& b) {
  if (either_complex(a, b)) {
    const double x = a.to_double(), y = b.to_double(), u = a.imag_part(), v = b.imag_part();
    return Scalar(x * y - u * v, x * v + u * y);
  }
  return combine(a, b, [](uint64_t x, uint64_t y) { return x * y; }, [](double x, double y) { return x * y; });
}
inline Scalar operator/(const Scalar& a, const Scalar& b) {
  if (either_complex(a, b)) {
    const double x = a.to_double(), y = b.to_double(), u = a.imag_part(), v = b.imag_part(), n = y * y + v * v;
    return Scalar((x * y + u * v) / n, (u * y - x * v) / n);
  }
  return Scalar(a.to_double() / b.to_double());
}
inline Scalar operator-(const Scalar& a) { return Scalar(0) - a; }
inline bool operator==(const Scalar& a, const Scalar& b) {
  return a.to_double() == b.to_double() && a.imag_part() == b.imag_part();
}
inline bool operator!=(const Scalar& a, const Scalar& b) { return !(a == b); }
inline bool operator<(const Scalar& a, const Scalar& b) { return a.to_double() < b.to_double(); }
inline bool operator<=(const Scalar& a, const Scalar& b) { return a.to_double() <= b.to_double(); }
inline bool operator>(const Scalar& a, const Scalar& b) { return a.to_double() > b.to_double(); }
inline bool operator>=(const Scalar& a, const Scalar& b) { return a.to_double() >= b.to_double(); }
inline Scalar scalar_conj(const Scalar& a) { return a.is_complex() ? Scalar(a.f, -a.imag) : a; }
inline Scalar scalar_log(const Scalar& a) {
  if (!a.is_complex()) return Scalar(std::log(a.to_double()));
  return Scalar(std::log(std::hypot(a.f, a.imag)), std::atan2(a.imag, a.f));
}
inline Scalar scalar_sqrt(const Scalar& a) { return Scalar(std::sqrt(a.to_double())); }
inline Scalar scalar_reciprocal(const Scalar& a) { return Scalar(1.0) / a; }

/// may_fuse() for derivatives that need elements to work on.
inline bool may_fuse(Tensor* const* grads) { return may_fuse() && !(grads[0] && grads[0]->is_meta()); }

}  // namespace vivace
