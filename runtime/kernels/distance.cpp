// Distances by p-norms: rows against all columns of the transposed other set, in the loops of isa/distance.h; those of
// p=2 also by a product of matrices.
#include "runtime/kernels/distance.h"

#include <cmath>
#include <vector>

#include "generated/kernels/linalg/distance.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/distance.h"
#include "runtime/kernels/lapack.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using namespace lapack;

namespace {

using dense::Norm;

/// Differences that are worth a thread.
constexpr int64_t kGrain = 1 << 16;

Norm norm_of(double p) {
  return p == 0                                                               ? Norm::Count
         : p == 1                                                             ? Norm::Sum
         : p == 2                                                             ? Norm::Square
         : std::isinf(p)                                                      ? Norm::Largest
         : p > 0 && 2 * p == std::floor(2 * p) && 2 * p <= dense::kMostHalves ? Norm::Halves
                                                                              : Norm::Power;
}

template <class F>
void visit_real(DType t, const char* name, F&& f) {
  if (t == DType::Float32) return f.template operator()<float>();
  if (t == DType::Float64) return f.template operator()<double>();
  fail_not_implemented("\"", name, "\" not implemented for '", t, "'");
}

void check_real(const Tensor& t, const char* name) {
  visit_real(t.dtype(), name, []<class T>() {});
}

int64_t grain(int64_t row) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1)); }

/// The place in a condensed vector where pairs (i, i + 1), (i, i + 2) ... of n rows begin.
int64_t pair_offset(int64_t i, int64_t n) { return i * (2 * n - i - 1) / 2; }

}  // namespace

namespace meta {

TensorRef cdist_forward(Tensor& x1, Tensor& x2, double) {
  check_real(x1, "cdist");
  return empty(extended(batch_sizes(x1), {rows(x1), rows(x2)}), x1.dtype(), x1.device());
}
TensorRef euclidean_dist(Tensor& x1, Tensor& x2) { return cdist_forward(x1, x2, 2); }

TensorRef pdist_forward(Tensor& self, double p) {
  if (self.dim() != 2) fail("pdist only supports 2D tensors, got: ", self.dim(), "D");
  if (is_complex(self.dtype()) || !is_differentiable(self.dtype())) fail("pdist only supports floating-point dtypes");
  check_real(self, "pdist");
  if (p < 0) fail("pdist only supports non-negative p values");
  const int64_t n = rows(self);
  return empty({n > 1 ? n * (n - 1) / 2 : 0}, self.dtype(), self.device());
}

}  // namespace meta

namespace kernels {

void cdist_forward(Tensor& x1, Tensor& x2, double p, Tensor& out) {
  // Loops run over columns: the larger set is made of them.
  const bool swapped = rows(x1) > rows(x2);
  const TensorRef points = contiguous(swapped ? x2 : x1), others = copy_columns(swapped ? x1 : x2);
  const int64_t r = rows(*points), n = rows(*others), m = cols(x1);
  visit_real(out.dtype(), "cdist", [&]<class T>() {
    const auto& loops = dense::distance_loops<T>();
    parallel_for(0, batches(x1) * r, grain(n * m), [&](int64_t begin, int64_t end) {
      std::vector<T> row(size_t(swapped ? n : 0));
      for (int64_t at = begin; at < end; ++at) {
        const int64_t batch = at / r, i = at % r;
        T* result = out.data<T>() + batch * r * n;
        T* to = swapped ? row.data() : result + i * n;
        loops.row(norm_of(p), T(p), points->data<T>() + at * m, matrix_at<T>(*others, batch), n, m, n, to);
        if (swapped)
          for (int64_t j = 0; j < n; ++j) result[j * r + i] = row[size_t(j)];
      }
    });
  });
}

void euclidean_dist(Tensor& x1, Tensor& x2, Tensor& out) {
  const TensorRef a = contiguous(x1), b = contiguous(x2);
  const int64_t r = rows(*a), n = rows(*b), m = cols(*a);
  visit_real(out.dtype(), "cdist", [&]<class T>() {
    const auto squares = [&](const Tensor& t) {
      std::vector<T> sums(size_t(batches(t) * rows(t)), T(0));
      for (size_t i = 0; i < sums.size(); ++i)
        for (int64_t k = 0; k < m; ++k) sums[i] += t.data<T>()[int64_t(i) * m + k] * t.data<T>()[int64_t(i) * m + k];
      return sums;
    };
    const std::vector<T> of_a = squares(*a), of_b = squares(*b);
    for (int64_t batch = 0; batch < batches(out); ++batch) {
      const Matrix left{reinterpret_cast<char*>(a->data<T>() + batch * r * m), r, m, m, 1};
      const Matrix right{reinterpret_cast<char*>(b->data<T>() + batch * n * m), n, m, m, 1};
      T* to = out.data<T>() + batch * r * n;
      gemm(out.dtype(), left, right.transposed(), {reinterpret_cast<char*>(to), r, n, n, 1}, Scalar(-2));
      for (int64_t i = 0; i < r; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const T square = to[i * n + j] + of_a[size_t(batch * r + i)] + of_b[size_t(batch * n + j)];
          to[i * n + j] = std::sqrt(square < 0 ? T(0) : square);
        }
    }
  });
}

void pdist_forward(Tensor& self, double p, Tensor& out) {
  if (out.numel() == 0) return;
  const TensorRef points = contiguous(self), columns = copy_columns(self);
  const int64_t n = rows(self), m = cols(self);
  visit_real(out.dtype(), "pdist", [&]<class T>() {
    const auto& loops = dense::distance_loops<T>();
    parallel_for(0, n - 1, grain(n * m / 2), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        loops.row(norm_of(p), T(p), points->data<T>() + i * m, columns->data<T>() + i + 1, n, m, n - i - 1,
                  out.data<T>() + pair_offset(i, n));
    });
  });
}

TensorRef cdist_grad(const Tensor& g, const Tensor& x1, const Tensor& x2, double p, const Tensor& y) {
  TensorRef grad = empty(x1.sizes(), x1.dtype());
  if (grad->numel() == 0) return grad;
  const Norm norm = norm_of(p);
  if (norm == Norm::Count || x2.numel() == 0) {
    fill_into(*grad, Scalar(0));
    return grad;
  }
  const TensorRef a = contiguous(x1), others = copy_columns(x2), slopes = contiguous(g), norms = contiguous(y);
  const int64_t r = rows(x1), n = rows(x2), m = cols(x1);
  visit_real(x1.dtype(), "cdist", [&]<class T>() {
    const auto& loops = dense::distance_loops<T>();
    parallel_for(0, batches(x1) * r, grain(n * m), [&](int64_t begin, int64_t end) {
      std::vector<T> scaled(size_t(n), T(0));
      for (int64_t at = begin; at < end; ++at) {
        const T *slope = slopes->data<T>() + at * n, *length = norms->data<T>() + at * n;
        // By the chain rule for (sum |d|^p)^(1/p); 0 where two vectors are equal.
        const bool plain = norm == Norm::Sum || norm == Norm::Largest;
        for (int64_t j = 0; !plain && j < n; ++j) {
          const T power = norm == Norm::Square ? length[j] : std::pow(length[j], T(p - 1));
          scaled[size_t(j)] = length[j] == 0 ? T(0) : slope[j] / power;
        }
        loops.slope(norm, T(p), a->data<T>() + at * m, matrix_at<T>(*others, at / r), n, m, n,
                    plain ? slope : scaled.data(), length, grad->data<T>() + at * m);
      }
    });
  });
  return grad;
}

}  // namespace kernels
}  // namespace vivace
