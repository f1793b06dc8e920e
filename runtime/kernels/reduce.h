// The one driver of reductions. It splits the dims into kept and reduced ones, picks runs along memory (of one output,
// or of many side by side), converts elements in blocks where the policy reads another type, and splits work over
// threads so that the result depends on the shape alone. A policy says what is accumulated:
//   In, Acc, in_type; Acc init; inner(p, n, acc); outer(p, rows, step, columns, accs); merge(acc, other); store(acc,
//   out); and perhaps inner_rows(p, rows, step, n, accs) and store_run(accs, n, out, step) for many outputs at once
#pragma once
#include <algorithm>

#include "runtime/core/tensor.h"
#include "runtime/kernels/copy.h"
#include "runtime/loop/nest.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {

struct ReduceNests {
  Nest<2> kept;  // input, output
  Nest<1> reduced;
};

/// Sizes after reducing the dims of `mask`.
inline Dims reduced_sizes(const Tensor& in, uint64_t mask, bool keepdim) {
  Dims sizes;
  for (int d = 0; d < in.ndim_; ++d) {
    if (!(mask >> d & 1))
      sizes.push(in.dims_[d]);
    else if (keepdim)
      sizes.push(1);
  }
  return sizes;
}
inline int64_t reduced_count(const Tensor& in, uint64_t mask) {
  int64_t n = 1;
  for (int d = 0; d < in.ndim_; ++d)
    if (mask >> d & 1) n *= in.dims_[d];
  return n;
}

/// `out_size`: bytes of an output element; the output is contiguous over the kept dims.
inline void make_reduce_nests(ReduceNests& nests, const Tensor& in, char* out, int64_t out_size, uint64_t mask) {
  nests.kept.base[0] = nests.reduced.base[0] = in.raw();
  nests.kept.base[1] = out;
  const bool empty = in.numel_ == 0;  // its strides say nothing, and may be too large for bytes
  const int64_t in_size = empty ? 0 : int64_t(in.item_size());
  int64_t step = out_size;
  for (int d = in.ndim_ - 1; d >= 0; --d) {
    const int64_t size = in.dims_[d], stride = in.dims_[in.ndim_ + d] * in_size;
    if (mask >> d & 1) {
      nests.reduced.push(size, {stride});
    } else {
      nests.kept.push(size, {stride, step});
      if (__builtin_mul_overflow(step, size, &step)) step = 0;  // of an output without elements
    }
  }
  if (empty) return;
  nests.kept.sort();
  nests.kept.coalesce();
  nests.reduced.sort();
  nests.reduced.coalesce();
}

inline constexpr int64_t kReduceGrain = 32768;  // elements worth a thread
inline constexpr int64_t kReduceColumns = 256;  // outputs that are accumulated side by side
inline constexpr int64_t kReduceBuffer = 2048;  // elements converted at a time
inline constexpr int64_t kFewColumns = 8;       // strided ones that are worth gathering
inline constexpr int kReduceParts = 32;         // of one output whose elements are split over threads

template <class Policy>
class Reducer {
  using In = typename Policy::In;
  using Acc = typename Policy::Acc;

 public:
  Reducer(const Policy& policy, const Tensor& in, char* out, int64_t out_size, uint64_t mask)
      : policy_(policy), type_(in.dtype()) {
    make_reduce_nests(nests_, in, out, out_size, mask);
  }

  void run() const {
    const Nest<2>& kept = nests_.kept;
    const Nest<1>& reduced = nests_.reduced;
    if (kept.numel == 0) return;
    if (reduced.numel > 0 && columns_are_closer()) return side_by_side();
    if (kept.numel == 1) return policy_.store(whole(), kept.base[1]);
    const int64_t grain =
        std::max<int64_t>(1, kReduceGrain / (kept.inner_size() * std::max<int64_t>(reduced.numel, 1)));
    if (kept.runs() > 1)
      return parallel_for(0, kept.runs(), grain, [&](int64_t begin, int64_t end) { one_by_one(begin, end); });
    const int64_t* s = kept.inner_strides();
    parallel_for(0, kept.numel, std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(reduced.numel, 1)),
                 [&](int64_t begin, int64_t end) {
                   if (short_rows(begin, end)) return;
                   for (int64_t i = begin; i < end; ++i)
                     policy_.store(total(kept.base[0] + i * s[0]), kept.base[1] + i * s[1]);
                 });
  }

 private:
  /// Whether neighbouring outputs read neighbouring elements, or strided ones that lie closer than an output's own do.
  bool columns_are_closer() const {
    const Nest<2>& kept = nests_.kept;
    const Nest<1>& reduced = nests_.reduced;
    if (kept.ndim == 0) return false;
    const int64_t column = kept.strides[0][0], size = int64_t(item_size(type_));
    if (column == size) return true;
    return column > 0 && reduced.ndim > 0 && column < reduced.strides[0][0] && kept.sizes[0] >= kFewColumns;
  }

  void run_into(const char* p, int64_t n, int64_t step, Acc& acc) const {
    if (type_ == policy_.in_type && step == int64_t(sizeof(In)))
      return policy_.inner(reinterpret_cast<const In*>(p), n, acc);
    alignas(64) In buffer[kReduceBuffer];
    for (int64_t i = 0; i < n; i += kReduceBuffer) {
      const int64_t m = std::min(kReduceBuffer, n - i);
      convert_run(policy_.in_type, reinterpret_cast<char*>(buffer), sizeof(In), type_, p + i * step, step, m);
      policy_.inner(buffer, m, acc);
    }
  }

  /// Outputs [begin, end) of a single line of outputs, each of one run, if the policy has a loop for them.
  bool short_rows(int64_t begin, int64_t end) const {
    if constexpr (requires(Acc* accs) { policy_.inner_rows(static_cast<const In*>(nullptr), 0, 0, 0, accs); }) {
      const Nest<1>& reduced = nests_.reduced;
      const int64_t *s = nests_.kept.inner_strides(), size = int64_t(sizeof(In));
      if (type_ != policy_.in_type || reduced.ndim != 1 || reduced.strides[0][0] != size || s[0] % size != 0)
        return false;
      Acc accs[kReduceColumns];
      for (int64_t i = begin; i < end; i += kReduceColumns) {
        const int64_t n = std::min(kReduceColumns, end - i);
        const In* p = reinterpret_cast<const In*>(nests_.kept.base[0] + i * s[0]);
        if (!policy_.inner_rows(p, n, s[0] / size, reduced.numel, accs)) return false;
        store_all(accs, n, nests_.kept.base[1] + i * s[1], s[1]);
      }
      return true;
    }
    return false;
  }

  void store_all(const Acc* accs, int64_t n, char* out, int64_t step) const {
    if constexpr (requires { policy_.store_run(accs, n, out, step); })
      policy_.store_run(accs, n, out, step);
    else
      for (int64_t i = 0; i < n; ++i) policy_.store(accs[i], out + i * step);
  }

  Acc total(char* p) const {
    Acc acc = policy_.init;
    nests_.reduced.for_runs({p}, 0, nests_.reduced.runs(),
                            [&](char** q, int64_t n, const int64_t* s) { run_into(q[0], n, s[0], acc); });
    return acc;
  }

  /// The only output there is.
  Acc whole() const {
    const Nest<1>& reduced = nests_.reduced;
    char* p = nests_.kept.base[0];
    if (reduced.numel < 2 * kReduceGrain || reduced.ndim != 1 || get_num_threads() == 1) return total(p);
    const int64_t n = reduced.numel, step = reduced.strides[0][0];
    const int64_t part = std::max((n + kReduceParts - 1) / kReduceParts, kReduceGrain), parts = (n + part - 1) / part;
    Acc accs[kReduceParts];
    parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        accs[i] = policy_.init;
        run_into(p + i * part * step, std::min(part, n - i * part), step, accs[i]);
      }
    });
    for (int64_t i = 1; i < parts; ++i) policy_.merge(accs[0], accs[i]);
    return accs[0];
  }

  void one_by_one(int64_t begin, int64_t end) const {
    nests_.kept.for_runs(begin, end, [&](char** p, int64_t n, const int64_t* s) {
      for (int64_t i = 0; i < n; ++i) policy_.store(total(p[0] + i * s[0]), p[1] + i * s[1]);
    });
  }

  void side_by_side() const {
    const Nest<2>& kept = nests_.kept;
    const int64_t columns = kept.inner_size(), pieces = (columns + kReduceColumns - 1) / kReduceColumns;
    const int64_t work = std::min(columns, kReduceColumns) * nests_.reduced.numel;
    parallel_for(0, kept.runs() * pieces, std::max<int64_t>(1, kReduceGrain / work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % pieces * kReduceColumns, width = std::min(kReduceColumns, columns - first);
        kept.for_runs(task / pieces, task / pieces + 1, [&](char** p, int64_t, const int64_t* s) {
          columns_at(p[0] + first * s[0], s[0], p[1] + first * s[1], s[1], width);
        });
      }
    });
  }

  void columns_at(char* in, int64_t in_step, char* out, int64_t out_step, int64_t width) const {
    Acc accs[kReduceColumns];
    for (int64_t c = 0; c < width; ++c) accs[c] = policy_.init;
    const Nest<1>& reduced = nests_.reduced;
    reduced.for_runs({in}, 0, reduced.runs(), [&](char** q, int64_t rows, const int64_t* s) {
      rows_into(q[0], rows, s[0], in_step, width, accs);
    });
    store_all(accs, width, out, out_step);
  }

  void rows_into(const char* p, int64_t rows, int64_t step, int64_t column, int64_t width, Acc* accs) const {
    if (type_ == policy_.in_type && step % int64_t(sizeof(In)) == 0 && column == int64_t(sizeof(In)))
      return policy_.outer(reinterpret_cast<const In*>(p), rows, step / int64_t(sizeof(In)), width, accs);
    alignas(64) In buffer[kReduceBuffer];
    const int64_t at_once = kReduceBuffer / width;
    for (int64_t r = 0; r < rows; r += at_once) {
      const int64_t m = std::min(at_once, rows - r);
      for (int64_t i = 0; i < m; ++i)
        convert_run(policy_.in_type, reinterpret_cast<char*>(buffer + i * width), sizeof(In), type_, p + (r + i) * step,
                    column, width);
      policy_.outer(buffer, m, width, width, accs);
    }
  }

  const Policy& policy_;
  DType type_;
  ReduceNests nests_;
};

/// Reduces the dims of `mask`; `out` is contiguous.
template <class Policy>
void reduce(const Policy& policy, const Tensor& in, Tensor& out, uint64_t mask) {
  if (in.is_contiguous() && in.numel() > 0 && in.dtype() == policy.in_type && out.numel() == 1 &&
      in.numel() < kReduceGrain) {
    typename Policy::Acc acc = policy.init;
    policy.inner(in.data<typename Policy::In>(), in.numel(), acc);
    return policy.store(acc, out.raw());
  }
  Reducer<Policy>(policy, in, out.raw(), int64_t(out.item_size()), mask).run();
}

}  // namespace vivace::kernels
