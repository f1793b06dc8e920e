// Formulas written as formulas: a Var is a handle to a tensor whose operators are operators of the catalogue.
#pragma once
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/regroup.h"

namespace vivace::formulas {

struct Var {
  TensorRef ref;
  Var(TensorRef t) : ref(std::move(t)) {}
  Var(Tensor& t) : ref(TensorRef::share(&t)) {}
  Tensor& operator*() const { return *ref; }
  operator TensorRef() && { return std::move(ref); }
  operator TensorRef() const& { return ref; }

  Var sum(IntList dims) const { return ops::sum_dim_IntList(*ref, dims, true); }
  Var mean(IntList dims) const { return ops::mean_dim(*ref, dims, true); }
  Var reshape(IntList sizes) const { return ops::reshape(*ref, sizes); }
};

inline Var operator+(const Var& a, const Var& b) { return ops::add_Tensor(*a, *b); }
inline Var operator-(const Var& a, const Var& b) { return ops::sub_Tensor(*a, *b); }
inline Var operator*(const Var& a, const Var& b) { return ops::mul_Tensor(*a, *b); }
inline Var operator+(const Var& a, double s) { return ops::add_Scalar(*a, Scalar(s)); }
inline Var operator*(const Var& a, double s) { return ops::mul_Scalar(*a, Scalar(s)); }
inline Var operator-(const Var& a) { return ops::neg(*a); }

inline bool wants(uint64_t needs, int i) { return (needs >> i) & 1; }

}  // namespace vivace::formulas
