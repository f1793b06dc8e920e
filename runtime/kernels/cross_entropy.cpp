// Losses of class scores: cross_entropy for class indices and nll_loss, over (C), (N, C) and (N, C, d1, ...).
#include <cmath>

#include "generated/kernels/nn/loss.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/rows.h"

namespace vivace {
namespace {

/// Scores as rows of classes, targets as one index a row.
struct Problem {
  int64_t class_dim, classes, rows;
  TensorRef targets;  // int64, contiguous
  const int64_t* index;
  TensorRef weight;  // in the type of computation, or null

  Problem(const Tensor& input, Tensor& target, Tensor* class_weight, DType compute)
      : class_dim(input.dim() == 1 ? 0 : 1),
        classes(input.sizes()[class_dim]),
        rows(target.numel()),
        targets(dense_indices(target)),
        index(targets->data<int64_t>()),
        weight(kernels::dense_in(class_weight, compute)) {}

  static TensorRef dense_indices(Tensor& target) { return kernels::dense_in(&target, DType::Int64); }

  /// The class of a row; -1 if it is ignored. IndexError if there is no such class.
  int64_t at(int64_t row, int64_t ignore_index) const {
    const int64_t t = index[row];
    if (t == ignore_index) return -1;
    if (t < 0 || t >= classes) [[unlikely]]
      fail_index("Target ", t, " is out of bounds.");
    return t;
  }
  template <class T>
  double weight_of(int64_t c) const {
    return weight ? double(weight->data<T>()[c]) : 1.0;
  }
  /// Sum of the weights of the rows that count: what a mean divides by.
  template <class T>
  double total(int64_t ignore_index) const {
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i)
      if (const int64_t t = at(i, ignore_index); t >= 0) sum += weight_of<T>(t);
    return sum;
  }
};

void check_scores(const char* op, const Tensor& input, const Tensor& target, const Tensor* weight) {
  kernels::check_floating(input.dtype(), op);
  if (input.dim() < 1) fail_value(op, ": Expected 1 or more dimensions (got 0)");
  const int64_t classes = input.sizes()[input.dim() == 1 ? 0 : 1];
  bool fits = target.dim() == input.dim() - 1;
  for (int64_t d = 0; fits && d < target.dim(); ++d) fits = target.sizes()[d] == input.sizes()[d == 0 ? 0 : d + 1];
  if (!fits) [[unlikely]] {
    if (input.dim() > 1 && target.dim() > 0 && input.sizes()[0] != target.sizes()[0])
      fail_value(op, ": Expected input batch_size (", input.sizes()[0], ") to match target batch_size (",
                 target.sizes()[0], ").");
    fail(op, ": size mismatch: input has shape ", input.sizes(), ", target has shape ", target.sizes());
  }
  if (target.dtype() != DType::Int64 && target.dtype() != DType::UInt8) [[unlikely]]
    fail(op, ": expected scalar type Long or Byte for target but found ", target.dtype());
  if (weight && (weight->dim() != 1 || weight->numel() != classes)) [[unlikely]]
    fail(op, ": weight tensor should be defined either for all ", classes,
         " classes or no classes but got weight tensor of shape: ", weight->sizes());
}

TensorRef score_result(const Tensor& input, const Tensor& target, kernels::Reduction reduction) {
  if (reduction == kernels::Reduction::None) return empty(target.sizes(), input.dtype(), input.device());
  return empty(IntList(), input.dtype(), input.device());
}

/// Sizes with the class dim at the end.
Dims row_sizes(IntList input) {
  Dims sizes;
  for (size_t d = 0; d < input.size(); ++d)
    if (d != (input.size() == 1 ? 0 : 1)) sizes.push(input[d]);
  sizes.push(input[input.size() == 1 ? 0 : 1]);
  return sizes;
}

/// From rows of classes to the layout of the scores.
TensorRef from_rows(TensorRef rows, const Tensor& input) {
  if (input.dim() <= 2) return rows->dtype() == input.dtype() ? rows : to_dtype(*rows, input.dtype());
  TensorRef out = empty(input.sizes(), input.dtype());
  TensorRef moved = kernels::dim_to_end(*out, 1);
  copy_into(*moved, *rows);
  return out;
}

/// The score of each row's class, in the type of computation; 0 where it is ignored.
TensorRef target_scores(Tensor& input, const Problem& p, int64_t ignore_index, DType compute) {
  const TensorRef moved = kernels::dim_to_end(input, p.class_dim);
  const IntList sizes = moved->sizes(), strides = moved->strides();
  const int last = int(sizes.size()) - 1;
  TensorRef scores = empty({p.rows}, input.dtype());
  visit_bits(input.dtype(), [&]<class T>() {
    const T* from = reinterpret_cast<const T*>(moved->raw());
    T* to = reinterpret_cast<T*>(scores->raw());
    int64_t index[kMaxDims] = {};
    for (int64_t i = 0; i < p.rows; ++i) {
      const int64_t t = p.at(i, ignore_index);
      to[i] = t < 0 ? T() : from[t * strides[last]];
      for (int d = last - 1; d >= 0; --d) {
        from += strides[d];
        if (++index[d] < sizes[d]) break;
        from -= index[d] * strides[d];
        index[d] = 0;
      }
    }
  });
  return kernels::dense_in(scores.get(), compute);
}

/// f(row, class or -1, loss of the row, its weight) from rows of scores.
template <class T, class F>
void each_row(const Problem& p, const T* x, const kernels::CrossEntropy& o, F&& f) {
  const auto& loops = dense::loops<T>();
  const int64_t n = p.classes;
  constexpr int64_t kBlock = 64;
  T lse[kBlock];
  for (int64_t start = 0; start < p.rows; start += kBlock) {
    const int64_t m = std::min(kBlock, p.rows - start);
    loops.logsumexp(x + start * n, lse, m, n);
    for (int64_t i = 0; i < m; ++i) {
      const T* row = x + (start + i) * n;
      const int64_t t = p.at(start + i, o.ignore_index);
      if (t < 0) {
        f(start + i, t, T(0), 0.0);
        continue;
      }
      const double w = p.weight_of<T>(t);
      T loss = T(w) * (lse[i] - row[t]);
      if (o.label_smoothing > 0) {
        const double smooth = p.weight ? -loops.sum_products(p.weight->data<T>(), row, n, lse[i])
                                       : double(n) * double(lse[i]) - loops.sum(row, n);
        loss = T((1 - o.label_smoothing) * double(loss) + o.label_smoothing / double(n) * smooth);
      }
      f(start + i, t, loss, w);
    }
  }
}

}  // namespace

namespace meta {

TensorRef cross_entropy_index(Tensor& input, Tensor& target, Tensor* weight, int64_t, std::string_view reduction,
                              double label_smoothing) {
  check_scores("cross_entropy_loss", input, target, weight);
  if (label_smoothing < 0 || label_smoothing > 1)
    fail("label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  return score_result(input, target, kernels::parse_reduction("cross_entropy", reduction, {}, {}));
}

TensorRef nll_loss_index(Tensor& input, Tensor& target, Tensor* weight, int64_t, std::string_view reduction) {
  check_scores("nll_loss", input, target, weight);
  return score_result(input, target, kernels::parse_reduction("nll_loss", reduction, {}, {}));
}

}  // namespace meta

namespace kernels {

void cross_entropy_index(Tensor& input, Tensor& target, Tensor* weight, int64_t ignore_index,
                         std::string_view reduction, double label_smoothing, Tensor& out) {
  const CrossEntropy o{weight, ignore_index, parse_reduction("cross_entropy", reduction, {}, {}), label_smoothing};
  const DType compute = compute_of(input.dtype());
  const Problem p(input, target, weight, compute);
  TensorRef x = as_rows(input, p.class_dim, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_compute(compute, "cross_entropy", [&]<class T>() {
    T* result = buffer.rows().data<T>();
    double sum = 0, weights = 0;
    each_row<T>(p, x->data<T>(), o, [&](int64_t row, int64_t, T loss, double w) {
      if (o.reduction == Reduction::None) result[row] = loss;
      sum += double(loss);
      weights += w;
    });
    if (o.reduction == Reduction::Sum) *result = T(sum);
    if (o.reduction == Reduction::Mean) *result = T(sum / weights);
  });
  buffer.finish();
}

TensorRef cross_entropy_grad(Tensor& g, Tensor& input, Tensor& target, const CrossEntropy& o) {
  const DType compute = compute_of(input.dtype());
  const Problem p(input, target, o.weight, compute);
  const int64_t n = p.classes;
  TensorRef x = as_rows(input, p.class_dim, compute), grads = dense_in(&g, compute),
            out = empty(row_sizes(input.sizes()), compute);
  visit_compute(compute, "cross_entropy", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    const T* dy = grads->data<T>();
    const double total = o.reduction == Reduction::Mean ? p.total<T>(o.ignore_index) : 1;
    const double smoothing = o.label_smoothing;
    double weight_sum = double(n);
    if (p.weight) {
      weight_sum = 0;
      for (int64_t c = 0; c < n; ++c) weight_sum += p.weight_of<T>(c);
    }
    for (int64_t i = 0; i < p.rows; ++i) {
      const T* in = x->data<T>() + i * n;
      T* dx = out->data<T>() + i * n;
      const int64_t t = p.at(i, o.ignore_index);
      if (t < 0) {
        for (int64_t c = 0; c < n; ++c) dx[c] = 0;
        continue;
      }
      const double w = p.weight_of<T>(t), scale = double(o.reduction == Reduction::None ? dy[i] : *dy) / total;
      // Weights of all classes: (1 - s) * w at the target, s / n * weight everywhere.
      const double mass = (1 - smoothing) * w + smoothing / double(n) * weight_sum;
      loops.softmax(in, dx, 1, n);
      const double share = scale * smoothing / double(n);
      loops.scale_shift(dx, dx, n, T(scale * mass), T(p.weight ? 0 : -share));
      dx[t] -= T(scale * (1 - smoothing) * w);
      if (smoothing > 0 && p.weight)
        for (int64_t c = 0; c < n; ++c) dx[c] -= T(share * p.weight_of<T>(c));
    }
  });
  return from_rows(std::move(out), input);
}

void nll_loss_index(Tensor& input, Tensor& target, Tensor* weight, int64_t ignore_index, std::string_view reduction,
                    Tensor& out) {
  const Reduction reduce = parse_reduction("nll_loss", reduction, {}, {});
  const DType compute = compute_of(input.dtype());
  const Problem p(input, target, weight, compute);
  const TensorRef scores = target_scores(input, p, ignore_index, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_compute(compute, "nll_loss", [&]<class T>() {
    T* result = buffer.rows().data<T>();
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < p.rows; ++i) {
      const int64_t t = p.at(i, ignore_index);
      const double w = t < 0 ? 0 : p.weight_of<T>(t);
      const double loss = t < 0 ? 0 : -w * double(scores->data<T>()[i]);
      if (reduce == Reduction::None) result[i] = T(loss);
      sum += loss;
      weights += w;
    }
    if (reduce == Reduction::Sum) *result = T(sum);
    if (reduce == Reduction::Mean) *result = T(sum / weights);
  });
  buffer.finish();
}

TensorRef nll_grad(Tensor& g, IntList input_sizes, Tensor& target, Tensor* weight, int64_t ignore_index,
                   Reduction reduction) {
  const DType compute = compute_of(g.dtype());
  const TensorRef shape = empty(input_sizes, g.dtype());
  const Problem p(*shape, target, weight, compute);
  TensorRef grads = dense_in(&g, compute), slopes = empty({p.rows}, compute),
            out = empty(row_sizes(input_sizes), g.dtype());
  visit_compute(compute, "nll_loss", [&]<class T>() {
    const T* dy = grads->data<T>();
    const double total = reduction == Reduction::Mean ? p.total<T>(ignore_index) : 1;
    for (int64_t i = 0; i < p.rows; ++i) {
      const int64_t t = p.at(i, ignore_index);
      const double each = double(reduction == Reduction::None ? dy[i] : *dy);
      slopes->data<T>()[i] = t < 0 ? T(0) : T(-p.weight_of<T>(t) / total * each);
    }
  });
  fill_into(*out, Scalar(0));
  slopes = dense_in(slopes.get(), g.dtype());
  visit_bits(g.dtype(), [&]<class T>() {
    const T* slope = reinterpret_cast<const T*>(slopes->raw());
    T* to = reinterpret_cast<T*>(out->raw());
    for (int64_t i = 0; i < p.rows; ++i)
      if (const int64_t t = p.at(i, ignore_index); t >= 0) to[i * p.classes + t] = slope[i];
  });
  return from_rows(std::move(out), *shape);
}

}  // namespace kernels
}  // namespace vivace
