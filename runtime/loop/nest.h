// A nest of loops over operands of one shape: size-1 dims dropped, dims ordered by stride, neighbours that lie in one
// line merged. Dim 0 is the innermost. Strides are in bytes. Nothing is allocated. Kernels get runs: pointers, a length
// and inner strides.
#pragma once
#include <cstdlib>

#include "runtime/core/tensor.h"

namespace vivace {

template <int N>
struct Nest {
  int ndim = 0;
  int64_t numel = 1;
  char* base[N];
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims][N];

  Nest() {}  // leaves the arrays uninitialised

  /// Appends a dim inside of which all earlier ones run (call from the innermost to the outermost).
  void push(int64_t size, const int64_t (&stride)[N]) {
    numel = int64_t(uint64_t(numel) * uint64_t(size));  // an empty tensor's other sizes may be of any product
    if (size == 1) return;
    sizes[ndim] = size;
    for (int k = 0; k < N; ++k) strides[ndim][k] = stride[k];
    ++ndim;
  }

  /// Orders dims by the strides of operand 0, then 1 and so on (smallest innermost) where order does not matter to the
  /// caller.
  void sort() {
    for (int i = 1; i < ndim; ++i)
      for (int j = i; j > 0 && inside(j, j - 1); --j) exchange(j, j - 1);
  }

  /// Merges dims that one stride walks.
  void coalesce() {
    int last = 0;
    for (int d = 1; d < ndim; ++d) {
      bool one_line = true;
      for (int k = 0; k < N; ++k) one_line &= strides[d][k] == strides[last][k] * sizes[last];
      if (one_line) {
        sizes[last] *= sizes[d];
      } else if (++last != d) {
        sizes[last] = sizes[d];
        for (int k = 0; k < N; ++k) strides[last][k] = strides[d][k];
      }
    }
    if (ndim > 0) ndim = last + 1;
  }

  int64_t inner_size() const { return ndim ? sizes[0] : 1; }
  const int64_t* inner_strides() const {
    static constexpr int64_t kZero[N] = {};
    return ndim ? strides[0] : kZero;
  }
  /// Number of runs.
  int64_t runs() const { return numel == 0 ? 0 : numel / inner_size(); }

  /// Calls f(pointers, n, strides) for the runs from `begin` to `end`.
  template <class F>
  void for_runs(int64_t begin, int64_t end, F&& f) const {
    for_runs(base, begin, end, f);
  }
  /// The same with other pointers in place of `base`.
  template <class F>
  void for_runs(char* const (&start)[N], int64_t begin, int64_t end, F&& f) const {
    if (begin >= end) return;
    char* p[N];
    for (int k = 0; k < N; ++k) p[k] = start[k];
    const int64_t n = inner_size();
    const int64_t* inner = inner_strides();
    if (ndim <= 1) return void(f(p, n, inner));
    int64_t at[kMaxDims];
    int64_t rest = begin;
    for (int d = 1; d < ndim; ++d) {
      at[d] = rest % sizes[d];
      rest /= sizes[d];
      for (int k = 0; k < N; ++k) p[k] += at[d] * strides[d][k];
    }
    for (int64_t r = begin;;) {
      char* q[N];
      for (int k = 0; k < N; ++k) q[k] = p[k];
      f(q, n, inner);
      if (++r == end) return;
      for (int d = 1;; ++d) {
        for (int k = 0; k < N; ++k) p[k] += strides[d][k];
        if (++at[d] < sizes[d]) break;
        for (int k = 0; k < N; ++k) p[k] -= strides[d][k] * sizes[d];
        at[d] = 0;
      }
    }
  }
  template <class F>
  void run(F&& f) const {
    for_runs(0, runs(), f);
  }

 private:
  bool inside(int a, int b) const {
    for (int k = 0; k < N; ++k) {
      const int64_t x = std::abs(strides[a][k]), y = std::abs(strides[b][k]);
      if (x != y) return x < y;
    }
    return false;
  }
  void exchange(int a, int b) {
    std::swap(sizes[a], sizes[b]);
    for (int k = 0; k < N; ++k) std::swap(strides[a][k], strides[b][k]);
  }
};

/// The nest over `sizes` of tensors that broadcast to them.
template <int N>
Nest<N> make_nest(IntList sizes, const Tensor* const (&tensors)[N], bool keep_order = false) {
  Nest<N> nest;
  for (int k = 0; k < N; ++k) nest.base[k] = tensors[k]->raw();
  const int n = int(sizes.size());
  for (int d = n - 1; d >= 0; --d) {
    int64_t stride[N];
    for (int k = 0; k < N; ++k) {
      const Tensor& t = *tensors[k];
      const int at = d - (n - int(t.ndim_));
      stride[k] = at < 0 || t.dims_[at] == 1 ? 0 : t.dims_[t.ndim_ + at] * int64_t(t.item_size());
    }
    nest.push(sizes[d], stride);
  }
  if (!keep_order) nest.sort();
  nest.coalesce();
  return nest;
}

}  // namespace vivace
