// Words of linear algebra for formulas over batches of matrices: products, adjoints, triangles, diagonals, systems.
#pragma once
#include "generated/ops/index/triangle.h"
#include "generated/ops/linalg/factor.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/linalg/solve.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/formulas/var.h"

namespace vivace::formulas {

inline Var mm(const Var& a, const Var& b) { return ops::matmul(*a, *b); }
inline Var adjoint(const Var& a) { return ops::mH(*a); }
inline Var transposed(const Var& a) { return ops::mT(*a); }
inline Var conj(const Var& a) { return is_complex((*a).dtype()) ? Var(ops::conj(*a)) : a; }
inline Var tril(const Var& a, int64_t k = 0) { return ops::tril(*a, k); }
inline Var triu(const Var& a, int64_t k = 0) { return ops::triu(*a, k); }
/// The diagonals of matrices as vectors, and back.
inline Var diagonal_of(const Var& a) { return ops::diagonal(*a, 0, -2, -1); }
inline Var diagonal_matrix(const Var& v) { return ops::diag_embed(*v); }
inline Var column(const Var& v) { return ops::unsqueeze(*v, -1); }
inline Var row(const Var& v) { return ops::unsqueeze(*v, -2); }
inline Var first(const Var& a, int64_t dim, int64_t n) { return ops::narrow(*a, dim, 0, n); }
inline Var after(const Var& a, int64_t dim, int64_t n) { return ops::narrow(*a, dim, n, (*a).size(dim) - n); }
inline Var hermitian_part(const Var& a) { return (a + adjoint(a)) * 0.5; }
/// x with a @ x = b, for a triangular a.
inline Var solve_lower(const Var& a, const Var& b, bool unit = false) {
  return ops::linalg_solve_triangular(*a, *b, false, true, unit);
}
inline Var solve_upper(const Var& a, const Var& b, bool unit = false) {
  return ops::linalg_solve_triangular(*a, *b, true, true, unit);
}
/// x with x @ a = b, for a triangular a.
inline Var lower_divides(const Var& b, const Var& a, bool unit = false) {
  return ops::linalg_solve_triangular(*a, *b, false, false, unit);
}
inline Var upper_divides(const Var& b, const Var& a, bool unit = false) {
  return ops::linalg_solve_triangular(*a, *b, true, false, unit);
}

}  // namespace vivace::formulas
