// Scaled dot product attention over (B, H, L, E): scores exist for a block of query rows at a time only. Fewer heads of
// key and value than of query are shared by groups (GQA). The mask is added to the scores (a bool mask becomes 0 and
// -inf before).
#include "runtime/kernels/attention.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "generated/kernels/nn/attention.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using kernels::Matrix;

namespace {

/// Scores of one block.
constexpr int64_t kBlock = 64 * 1024;

/// A (B, H, rows, cols) operand; its last dim is contiguous.
struct Operand {
  TensorRef dense;
  int64_t group = 1;  // heads of the query per head of this

  Operand(Tensor& t, DType dtype, int64_t heads) {
    dense = t.dtype() == dtype && (t.strides()[3] == 1 || t.sizes()[3] == 1) ? TensorRef::share(&t)
                                                                             : kernels::dense_in(&t, dtype);
    group = heads / t.sizes()[1];
  }
  Matrix at(int64_t b, int64_t h, int64_t row, int64_t rows) const {
    const IntList s = dense->strides();
    Matrix m = kernels::matrix(*dense, b * s[0] + h / group * s[1] + row * s[2]);
    m.rows = rows;
    return m;
  }
};

struct Attention {
  int64_t batches, heads, rows, cols, width;
  bool is_causal;
  double scale;
  TensorRef mask;  // expanded to (B, H, rows, cols) with strides of 0, in the type of computation
  int64_t block;

  Attention(Tensor& q, Tensor& k, Tensor* m, bool causal, double scale, DType compute)
      : batches(q.sizes()[0]),
        heads(q.sizes()[1]),
        rows(q.sizes()[2]),
        cols(k.sizes()[2]),
        width(q.sizes()[3]),
        is_causal(causal),
        scale(scale) {
    block = std::clamp<int64_t>(kBlock / std::max<int64_t>(1, cols), 1, std::max<int64_t>(1, rows));
    if (m) mask = m->dtype() == compute ? TensorRef::share(m) : to_dtype(*m, compute);
  }
  /// Columns that any row of a block ending before `end` sees.
  int64_t seen(int64_t end) const { return is_causal ? std::min(cols, end) : cols; }

  /// probs (n, seen) = softmax over the scores of rows [row, row + n).
  template <class T>
  void probabilities(DType compute, const Operand& q, const Operand& k, int64_t b, int64_t h, int64_t row, int64_t n,
                     T* probs) const {
    const int64_t m = seen(row + n);
    kernels::gemm(compute, q.at(b, h, row, n), k.at(b, h, 0, m).transposed(),
                  {reinterpret_cast<char*>(probs), n, m, m, 1}, Scalar(scale));
    for (int64_t i = 0; i < n; ++i) {
      T* line = probs + i * m;
      if (mask) {
        const T* added = mask->data<T>() + mask_offset(b, h, row + i);
        const int64_t step = mask->dim() > 0 && mask->size(-1) != 1 ? mask->stride(-1) : 0;
        for (int64_t j = 0; j < m; ++j) line[j] += added[j * step];
      }
      const int64_t visible = is_causal ? std::min(cols, row + i + 1) : m;
      if (has_visible(line, visible))
        dense::loops<T>().softmax(line, line, 1, visible);
      else
        std::fill(line, line + visible, T(0));  // all masked: attends to nothing
      std::fill(line + visible, line + m, T(0));
    }
  }
  template <class T>
  bool has_visible(const T* line, int64_t n) const {
    if (!mask) return true;
    for (int64_t j = 0; j < n; ++j)
      if (line[j] != -std::numeric_limits<T>::infinity()) return true;
    return false;
  }
  int64_t mask_offset(int64_t b, int64_t h, int64_t row) const {
    const int64_t at[] = {b, h, row}, n = mask->dim();
    int64_t offset = 0;
    for (int64_t d = 0; d < n - 1; ++d)
      if (mask->sizes()[d] != 1) offset += at[d + 4 - n] * mask->strides()[d];
    return offset;
  }
  int64_t grain() const { return std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, rows * cols * width)); }
  void prepare() const {
    if (rows * cols * width > 1 << 12) blas::table();  // opened here: it needs the GIL
  }
};

template <class T>
Matrix square(T* data, int64_t rows, int64_t cols) {
  return {reinterpret_cast<char*>(data), rows, cols, cols, 1};
}

}  // namespace

namespace meta {

TensorRef attention(Tensor& query, Tensor& key, Tensor& value, Tensor*, bool, double) {
  kernels::check_floating(query.dtype(), "scaled_dot_product_attention");
  const IntList q = query.sizes(), k = key.sizes(), v = value.sizes();
  if (q[0] != k[0] || k[0] != v[0] || q[3] != k[3] || k[2] != v[2] || k[1] != v[1] || (k[1] && q[1] % k[1]))
    fail("scaled_dot_product_attention: shapes don't fit: query ", q, ", key ", k, ", value ", v);
  // In the query's order of dims: often (B, L, H, E), from heads that were split off the last dim.
  const bool rows_first = query.strides()[1] < query.strides()[2];
  const int64_t strides[] = {q[2] * q[1] * v[3], rows_first ? v[3] : q[2] * v[3], rows_first ? q[1] * v[3] : v[3], 1},
                sizes[] = {q[0], q[1], q[2], v[3]};
  return empty_strided(sizes, strides, query.dtype(), query.device());
}

}  // namespace meta

namespace kernels {

void attention(Tensor& query, Tensor& key, Tensor& value, Tensor* mask, bool is_causal, double scale, Tensor& out) {
  if (out.numel() == 0) return;
  const DType compute = compute_of(query.dtype());
  const Attention a(query, key, mask, is_causal, scale, compute);
  const Operand q(query, compute, a.heads), k(key, compute, a.heads), v(value, compute, a.heads);
  TensorRef wide = out.dtype() == compute ? TensorRef::share(&out) : empty(out.sizes(), compute);
  const Operand y(*wide, compute, a.heads);
  a.prepare();
  visit_compute(compute, "scaled_dot_product_attention", [&]<class T>() {
    blas::table();  // loading needs the GIL, which the pool's threads do not have
    parallel_for(0, a.batches * a.heads, a.grain(), [&](int64_t begin, int64_t end) {
      const auto probs = scratch<T>(a.block * a.cols + 1);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / a.heads, h = i % a.heads;
        for (int64_t row = 0; row < a.rows; row += a.block) {
          const int64_t n = std::min(a.block, a.rows - row), m = a.seen(row + n);
          a.probabilities(compute, q, k, b, h, row, n, probs.get());
          gemm(compute, square(probs.get(), n, m), v.at(b, h, 0, m), y.at(b, h, row, n));
        }
      }
    });
  });
  if (wide.get() != &out) copy_into(out, *wide);
}

std::tuple<TensorRef, TensorRef, TensorRef> attention_grad(Tensor& g, Tensor& query, Tensor& key, Tensor& value,
                                                           Tensor* mask, bool is_causal, double scale) {
  const DType compute = compute_of(query.dtype());
  const Attention a(query, key, mask, is_causal, scale, compute);
  const Operand q(query, compute, a.heads), k(key, compute, a.heads), v(value, compute, a.heads),
      dy(g, compute, a.heads);
  TensorRef q_grad = empty(query.sizes(), compute), k_grad = empty(key.sizes(), compute),
            v_grad = empty(value.sizes(), compute);
  fill_into(*k_grad, Scalar(0));
  fill_into(*v_grad, Scalar(0));
  const Operand dq(*q_grad, compute, a.heads), dk(*k_grad, compute, a.heads), dv(*v_grad, compute, a.heads);
  a.prepare();
  if (a.cols == 0) fill_into(*q_grad, Scalar(0));
  if (query.numel() && a.cols)
    visit_compute(compute, "scaled_dot_product_attention", [&]<class T>() {
      // Heads that share a key add to one gradient: a group is one piece of work.
      blas::table();  // loading needs the GIL, which the pool's threads do not have
      parallel_for(0, a.batches * (a.heads / k.group), a.grain(), [&](int64_t begin, int64_t end) {
        const auto probs = scratch<T>(a.block * a.cols), slopes = scratch<T>(a.block * a.cols);
        for (int64_t i = begin * k.group; i < end * k.group; ++i) {
          const int64_t b = i / a.heads, h = i % a.heads;
          for (int64_t row = 0; row < a.rows; row += a.block) {
            const int64_t n = std::min(a.block, a.rows - row), m = a.seen(row + n);
            a.probabilities(compute, q, k, b, h, row, n, probs.get());
            const Matrix p = square(probs.get(), n, m), s = square(slopes.get(), n, m), upper = dy.at(b, h, row, n);
            gemm(compute, p.transposed(), upper, dv.at(b, h, 0, m), Scalar(1), Scalar(1));
            gemm(compute, upper, v.at(b, h, 0, m).transposed(), s);
            dense::loops<T>().softmax_backward(slopes.get(), probs.get(), slopes.get(), n, m);
            gemm(compute, s, k.at(b, h, 0, m), dq.at(b, h, row, n), Scalar(scale));
            gemm(compute, s.transposed(), q.at(b, h, row, n), dk.at(b, h, 0, m), Scalar(scale), Scalar(1));
          }
        }
      });
    });
  const auto typed = [&](TensorRef t) { return compute == query.dtype() ? std::move(t) : to_dtype(*t, query.dtype()); };
  return {typed(std::move(q_grad)), typed(std::move(k_grad)), typed(std::move(v_grad))};
}

}  // namespace kernels
}  // namespace vivace
