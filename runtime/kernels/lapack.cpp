// Looking up routines, checks of matrices, and copies into and out of column order.
#include "runtime/kernels/lapack.h"

namespace vivace::lapack {

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
