// Looking up routines, checks of matrices, and copies into and out of column order.
#include "runtime/kernels/lapack.h"

#include <algorithm>

namespace vivace::lapack {

void* find(const std::string& name) {
  // Unasked, LAPACKE would refuse a NaN with a code that reads like another fault; PyTorch lets it through.
  static const bool unchecked = (reinterpret_cast<void (*)(int)>(blas::symbol("LAPACKE_set_nancheck"))(0), true);
  (void)unchecked;
  return blas::symbol(("LAPACKE_" + name).c_str());
}

bool all_finite(const Tensor& t) {
  bool finite = true;
  visit_matrix(t.dtype(), [&]<class T>() {
    const auto* x = t.data<Real<T>>();
    const int64_t n = t.numel() * int64_t(sizeof(T) / sizeof(Real<T>));
    finite = std::all_of(x, x + n, [](Real<T> v) { return v - v == 0; });
  });
  return finite;
}

void check_matrices(const Tensor& t, const char* name, const char* argument) {
  if (t.dim() < 2) fail(name, ": The input tensor ", argument, " must have at least 2 dimensions.");
  if (!is_differentiable(t.dtype()))
    fail(name, ": Expected a floating point or complex tensor as input. Got ", t.dtype());
  if (is_half(t.dtype())) fail(name, ": Low precision dtypes not supported. Got ", t.dtype());
}

void check_square(const Tensor& t, const char* name, const char* argument) {
  check_matrices(t, name, argument);
  if (rows(t) != cols(t))
    fail(name, ": ", argument, " must be batches of square matrices, but they are ", rows(t), " by ", cols(t),
         " matrices");
}

}  // namespace vivace::lapack
