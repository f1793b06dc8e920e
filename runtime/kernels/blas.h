// OpenBLAS, opened at its first use: the file of the `scipy_openblas32` package, found without importing anything.
// It always runs with one thread; whoever splits work over threads calls it once per part.
#pragma once
#include <cstdint>

#include "runtime/core/dtype.h"

namespace vivace::blas {

/// CBLAS's constants.
enum : int { kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113 };

/// The functions that vivace calls; complex numbers go by pointer.
struct Table {
  void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                const float* b, int ldb, float beta, float* c, int ldc);
  void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                const double* b, int ldb, double beta, double* c, int ldc);
  void (*cgemm)(int order, int trans_a, int trans_b, int m, int n, int k, const void* alpha, const void* a, int lda,
                const void* b, int ldb, const void* beta, void* c, int ldc);
  void (*zgemm)(int order, int trans_a, int trans_b, int m, int n, int k, const void* alpha, const void* a, int lda,
                const void* b, int ldb, const void* beta, void* c, int ldc);
  void (*sgemv)(int order, int trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                float beta, float* y, int incy);
  void (*dgemv)(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                double beta, double* y, int incy);
};

/// The table, loaded if this is the first call. Needs the GIL then. RuntimeError if the library is missing.
const Table& table();

/// A function of the library by its name without the prefix ("LAPACKE_dgesdd"); RuntimeError if it does not exist.
void* symbol(const char* name);

}  // namespace vivace::blas
