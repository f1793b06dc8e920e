// What the matmul family shares with derivatives.
#pragma once
#include "runtime/kernels/gemm.h"

namespace vivace::kernels {

/// t (1 or more dims) as a matrix with its last dim as columns; `keep` holds a copy where the leading dims don't fold.
Matrix flat_matrix(const Tensor& t, TensorRef& keep);

}  // namespace vivace::kernels
