// Connectionist temporal classification by forward and backward variables, in logarithms. Labels stand between blanks:
// state s of 2 L + 1 is blank where s is even, else label s / 2.
#include <cmath>
#include <limits>
#include <vector>

#include "generated/kernels/nn/ctc.h"
#include "runtime/core/saturate.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <class T>
T log_add(T a, T b) {
  if (a < b) std::swap(a, b);
  return b == kNever<T> ? a : a + std::log1p(std::exp(b - a));
}

/// The labels of all sequences, as int64: rows of a matrix, or one after the other.
struct Labels {
  Labels(const Tensor& targets, IntList lengths) : flat(contiguous(*to_dtype(targets, DType::Int64))) {
    int64_t at = 0;
    for (size_t n = 0; n < lengths.size(); ++n) {
      starts.push_back(targets.dim() == 1 ? at : int64_t(n) * targets.sizes()[1]);
      at += lengths[n];
    }
  }
  const int64_t* of(int64_t n) const { return flat->data<int64_t>() + starts[size_t(n)]; }
  TensorRef flat;
  std::vector<int64_t> starts;
};

int64_t longest(IntList lengths) {
  int64_t most = 0;
  for (int64_t n : lengths) most = std::max(most, n);
  return most;
}

/// One sequence: `log_probs` at time t are at p + t * step.
template <class T>
struct Sequence {
  const T* p;
  int64_t step, times;
  const int64_t* labels;
  int64_t count, blank;

  int64_t states() const { return 2 * count + 1; }
  int64_t label(int64_t s) const { return s % 2 ? labels[s / 2] : blank; }
  T log_prob(int64_t t, int64_t s) const { return p[t * step + label(s)]; }
  /// Whether a path may jump over the blank between two labels: they differ.
  bool may_skip(int64_t s) const { return s % 2 && s >= 2 && label(s) != label(s - 2); }
};

/// alpha[t][s]: the log probability of all ways to be in state s at time t; returns the loss.
template <class T>
T forward(const Sequence<T>& q, T* alpha, int64_t width) {
  std::fill_n(alpha, std::max<int64_t>(q.times, 1) * width, kNever<T>);
  if (q.times == 0) return q.count == 0 ? 0 : -kNever<T>;
  for (int64_t s = 0; s < std::min<int64_t>(2, q.states()); ++s) alpha[s] = q.log_prob(0, s);
  for (int64_t t = 1; t < q.times; ++t) {
    const T* before = alpha + (t - 1) * width;
    for (int64_t s = 0; s < q.states(); ++s) {
      T sum = before[s];
      if (s > 0) sum = log_add(sum, before[s - 1]);
      if (q.may_skip(s)) sum = log_add(sum, before[s - 2]);
      alpha[t * width + s] = sum + q.log_prob(t, s);
    }
  }
  const T* end = alpha + (q.times - 1) * width;
  return -(q.count ? log_add(end[2 * q.count], end[2 * q.count - 1]) : end[0]);
}

/// grad[t][c] += the derivative by log_probs, times g.
template <class T>
void backward(const Sequence<T>& q, const T* alpha, int64_t width, T loss, T g, T* grad, int64_t classes) {
  if (q.times == 0) return;
  std::vector<T> beta(size_t(q.states()), kNever<T>), next(beta), sums(static_cast<size_t>(classes));
  for (int64_t t = q.times; t-- > 0;) {
    for (int64_t s = 0; s < q.states(); ++s) {
      T sum = t + 1 == q.times ? (s + 2 >= q.states() ? T(0) : kNever<T>) : next[size_t(s)];
      if (t + 1 < q.times) {
        if (s + 1 < q.states()) sum = log_add(sum, next[size_t(s + 1)]);
        if (s + 2 < q.states() && q.may_skip(s + 2)) sum = log_add(sum, next[size_t(s + 2)]);
      }
      beta[size_t(s)] = sum + q.log_prob(t, s);
    }
    std::fill(sums.begin(), sums.end(), kNever<T>);
    for (int64_t s = 0; s < q.states(); ++s) {
      T& sum = sums[size_t(q.label(s))];
      sum = log_add(sum, alpha[t * width + s] + beta[size_t(s)]);
    }
    for (int64_t c = 0; c < classes; ++c) {
      const T log_prob = q.p[t * q.step + c];
      grad[t * q.step + c] = (std::exp(log_prob) - std::exp(sums[size_t(c)] + loss - log_prob)) * g;
    }
    std::swap(beta, next);
  }
}

template <class T>
Sequence<T> sequence(const Tensor& log_probs, const Labels& labels, IntList input_lengths, IntList target_lengths,
                     int64_t blank, int64_t n) {
  const int64_t batch = log_probs.sizes()[1], classes = log_probs.sizes()[2];
  return {log_probs.data<T>() + n * classes, batch * classes,
          input_lengths[size_t(n)],          labels.of(n),
          target_lengths[size_t(n)],         blank};
}

}  // namespace

namespace meta {

std::tuple<TensorRef, TensorRef> ctc_losses(Tensor& log_probs, Tensor& targets, IntList input_lengths,
                                            IntList target_lengths, int64_t blank, bool) {
  if (log_probs.dim() != 3) fail("ctc_loss: log_probs should have dims (T, N, C) or (T, C), got ", log_probs.sizes());
  const int64_t times = log_probs.sizes()[0], batch = log_probs.sizes()[1], classes = log_probs.sizes()[2];
  if (log_probs.dtype() != DType::Float32 && log_probs.dtype() != DType::Float64)
    fail_not_implemented("\"ctc_loss_cpu\" not implemented for '", scalar_type_name(log_probs.dtype()), "'");
  if (targets.dtype() != DType::Int64 && targets.dtype() != DType::Int32)
    fail("ctc_loss: expected targets to be of an integer type (int32 or int64), got ", targets.dtype());
  if (batch == 0) fail("ctc_loss: batch size must be nonzero");
  if (blank < 0 || blank >= classes) fail("blank must be in label range");
  if (int64_t(input_lengths.size()) != batch) fail("input_lengths must be of size batch_size");
  if (int64_t(target_lengths.size()) != batch) fail("target_lengths must be of size batch_size");
  int64_t total = 0;
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t in = input_lengths[size_t(n)], out = target_lengths[size_t(n)];
    if (in < 0) fail("Expected input_lengths to have value at least 0, but got value ", in);
    if (out < 0) fail("Expected target_lengths to have value at least 0, but got value ", out);
    if (in > times) fail("Expected input_lengths to have value at most ", times, ", but got value ", in);
    total = saturating_sum(total, out);
  }
  if (targets.dim() == 1) {
    if (targets.numel() != total)
      fail("Expected tensor to have size ", total, " at dimension 0, but got size ", targets.numel(),
           " for argument #2 'targets'");
  } else if (targets.dim() != 2 || targets.sizes()[0] != batch || targets.sizes()[1] < longest(target_lengths)) {
    fail("Expected tensor to have size at least ", longest(target_lengths), " at dimension 1, but got size ",
         targets.sizes(), " for argument #2 'targets'");
  }
  return {empty({batch}, log_probs.dtype(), log_probs.device()),
          empty({batch, times, 2 * longest(target_lengths) + 1}, log_probs.dtype(), log_probs.device())};
}

TensorRef ctc_losses_backward(Tensor&, Tensor& log_probs, Tensor&, IntList, IntList, Tensor&, Tensor&, int64_t, bool) {
  return empty(log_probs.sizes(), log_probs.dtype(), log_probs.device());
}

}  // namespace meta

namespace kernels {

void ctc_losses(Tensor& log_probs, Tensor& targets, IntList input_lengths, IntList target_lengths, int64_t blank, bool,
                Tensor& losses, Tensor& log_alpha) {
  const TensorRef probs = contiguous(log_probs), alphas = contiguous(log_alpha), result = contiguous(losses);
  const Labels labels(targets, target_lengths);
  const int64_t batch = probs->sizes()[1], classes = probs->sizes()[2], width = alphas->sizes()[2];
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t s = 0; s < target_lengths[size_t(n)]; ++s)
      if (const int64_t c = labels.of(n)[s]; c < 0 || c >= classes)
        fail_index("ctc_loss: label ", c, " is out of range for ", classes, " classes");
  visit_compute(probs->dtype(), "ctc_loss_cpu", [&]<class T>() {
    fill_into(*alphas, -std::numeric_limits<double>::infinity());
    parallel_for(0, batch, 1, [&](int64_t begin, int64_t end) {
      std::vector<T> spare(static_cast<size_t>(width));  // for sequences without time
      for (int64_t n = begin; n < end; ++n) {
        const auto q = sequence<T>(*probs, labels, input_lengths, target_lengths, blank, n);
        T* alpha = alphas->numel() ? alphas->data<T>() + n * alphas->sizes()[1] * width : spare.data();
        result->data<T>()[n] = forward(q, q.times ? alpha : spare.data(), width);
      }
    });
  });
  if (alphas.get() != &log_alpha) copy_into(log_alpha, *alphas);
  if (result.get() != &losses) copy_into(losses, *result);
}

void ctc_losses_backward(Tensor& grads, Tensor& log_probs, Tensor& targets, IntList input_lengths,
                         IntList target_lengths, Tensor& losses, Tensor& log_alpha, int64_t blank, bool zero_infinity,
                         Tensor& out) {
  const TensorRef g = contiguous(grads), probs = contiguous(log_probs), alphas = contiguous(log_alpha),
                  loss = contiguous(losses), result = contiguous(out);
  fill_into(*result, 0);
  const Labels labels(targets, target_lengths);
  const int64_t batch = probs->sizes()[1], classes = probs->sizes()[2], width = alphas->sizes()[2];
  visit_compute(probs->dtype(), "ctc_loss_backward_cpu", [&]<class T>() {
    parallel_for(0, batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T own = loss->data<T>()[n];
        if (zero_infinity && std::isinf(own)) continue;
        const auto q = sequence<T>(*probs, labels, input_lengths, target_lengths, blank, n);
        backward(q, alphas->data<T>() + n * alphas->sizes()[1] * width, width, own, g->data<T>()[n],
                 result->data<T>() + n * classes, classes);
      }
    });
  });
  if (result.get() != &out) copy_into(out, *result);
}

}  // namespace kernels
}  // namespace vivace
