// Products of matrices of integers, which wrap around. One table for each width, filled per instruction set.
#pragma once
#include <cstdint>

namespace vivace::dense {

template <class T>
struct IntegerLoops {
  /// As DenseLoops::gemm.
  void (*gemm)(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_rows, int64_t a_cols, const T* b,
               int64_t b_rows, T beta, const T* added, int64_t added_rows, T* c, int64_t c_rows);
};

/// T: int32_t or int64_t.
template <class T>
const IntegerLoops<T>& integer_loops();

}  // namespace vivace::dense
