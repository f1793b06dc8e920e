// Losses that compare two tensors elementwise: values, sums and gradients of each from one pair of formulas.
#include <algorithm>
#include <cmath>

#include "generated/kernels/nn/loss.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/rows.h"

namespace vivace {
namespace {

using kernels::ElementLoss;

struct Options {
  double p = 0;  // beta or delta
};

template <class T>
T sign(T x) {
  return T((x > 0) - (x < 0));
}

// value(x, y): of one pair; slope(x, y): its derivative by x; target_slope: by y.
struct Mse {
  template <class T>
  static T value(T x, T y, const Options&) {
    return (x - y) * (x - y);
  }
  template <class T>
  static T slope(T x, T y, const Options&) {
    return 2 * (x - y);
  }
  template <class T>
  static T target_slope(T x, T y, const Options&) {
    return 2 * (y - x);
  }
};
struct L1 {
  template <class T>
  static T value(T x, T y, const Options&) {
    return std::fabs(x - y);
  }
  template <class T>
  static T slope(T x, T y, const Options&) {
    return sign(x - y);
  }
  template <class T>
  static T target_slope(T x, T y, const Options&) {
    return sign(y - x);
  }
};
struct SmoothL1 {
  template <class T>
  static T value(T x, T y, const Options& o) {
    const T d = std::fabs(x - y), beta = T(o.p);
    return d < beta ? d * d / beta * T(0.5) : d - beta * T(0.5);
  }
  template <class T>
  static T slope(T x, T y, const Options& o) {
    const T d = x - y, beta = T(o.p);
    return std::fabs(d) < beta ? d / beta : sign(d);
  }
  template <class T>
  static T target_slope(T x, T y, const Options& o) {
    return -slope(x, y, o);
  }
};
struct Huber {
  template <class T>
  static T value(T x, T y, const Options& o) {
    const T d = std::fabs(x - y), delta = T(o.p);
    return d <= delta ? d * d * T(0.5) : delta * (d - delta * T(0.5));
  }
  template <class T>
  static T slope(T x, T y, const Options& o) {
    const T d = x - y, delta = T(o.p);
    return d < -delta ? -delta : d > delta ? delta : d;
  }
  template <class T>
  static T target_slope(T x, T y, const Options& o) {
    return -slope(x, y, o);
  }
};

template <class F>
void visit_loss(ElementLoss loss, F&& f) {
  switch (loss) {
    case ElementLoss::Mse:
      return f.template operator()<Mse>();
    case ElementLoss::L1:
      return f.template operator()<L1>();
    case ElementLoss::SmoothL1:
      return f.template operator()<SmoothL1>();
    case ElementLoss::Huber:
      return f.template operator()<Huber>();
  }
}

/// Eight running sums a block, blocks added in double: as accurate as a pairwise sum, and vectorised.
template <class L, class T>
double sum_values(const T* x, const T* y, int64_t n, const Options& o) {
  double total = 0;
  for (int64_t start = 0; start < n; start += 4096) {
    const int64_t end = std::min(n, start + 4096);
    T lanes[8] = {};
    int64_t i = start;
    for (; i + 8 <= end; i += 8)
      for (int64_t j = 0; j < 8; ++j) lanes[j] += L::template value<T>(x[i + j], y[i + j], o);
    for (; i < end; ++i) lanes[0] += L::template value<T>(x[i], y[i], o);
    for (int64_t j = 0; j < 8; ++j) total += double(lanes[j]);
  }
  return total;
}

/// t broadcast to sizes, contiguous, in dtype.
TensorRef expanded(Tensor& t, IntList sizes, DType dtype) {
  if (std::equal(t.sizes().begin(), t.sizes().end(), sizes.begin(), sizes.end()) && t.dtype() == dtype)
    return contiguous(t);
  TensorRef out = empty(sizes, dtype);
  copy_into(*out, t);
  return out;
}

}  // namespace

namespace kernels {

Reduction parse_reduction(const char* op, std::string_view text, std::optional<bool> size_average,
                          std::optional<bool> reduce) {
  if (size_average || reduce) {
    if (!reduce.value_or(true)) return Reduction::None;
    return size_average.value_or(true) ? Reduction::Mean : Reduction::Sum;
  }
  if (text == "mean") return Reduction::Mean;
  if (text == "sum") return Reduction::Sum;
  if (text == "none") return Reduction::None;
  fail_value(op, ": ", text, " is not a valid value for reduction");
}

static void refuse_weight(const char* op, const Tensor* weight) {
  if (weight) [[unlikely]]
    fail_not_implemented(op, ": the argument 'weight' is not supported");
}

/// Broadcasting a loss is most often a mistake.
static void warn_of_sizes(const Tensor& input, const Tensor& target) {
  const std::string text =
      str("Using a target size (torch.Size(", target.sizes(), ")) that is different to the input size (torch.Size(",
          input.sizes(),
          ")). This will likely lead to incorrect results due to broadcasting. Please ensure they have "
          "the same size.");
  warn(text.c_str());
}

static TensorRef loss_result(const char* op, Tensor& input, Tensor& target, Reduction reduction) {
  const DType dtype = input.dtype() == target.dtype() ? input.dtype() : result_type(input, target);
  check_floating(dtype, op);
  if (std::ranges::equal(input.sizes(), target.sizes())) {
    if (reduction == Reduction::None) return empty_like(input, dtype);
  } else {
    warn_of_sizes(input, target);
    const Dims sizes = broadcast_sizes(input.sizes(), target.sizes());
    if (reduction == Reduction::None) return empty(sizes, dtype, input.device());
  }
  return empty(IntList(), dtype, input.device());
}

static void run_loss(ElementLoss loss, Tensor& input, Tensor& target, Reduction reduction, const Options& options,
                     Tensor& out) {
  const DType compute = compute_of(out.dtype());
  const bool same =
      std::equal(input.sizes().begin(), input.sizes().end(), target.sizes().begin(), target.sizes().end());
  const Dims sizes = same ? Dims(input.sizes()) : broadcast_sizes(input.sizes(), target.sizes());
  TensorRef x = expanded(input, sizes, compute), y = expanded(target, sizes, compute);
  const int64_t n = x->numel();
  RowBuffer buffer(out, out.dim(), compute);
  visit_compute(compute, "loss", [&]<class T>() {
    visit_loss(loss, [&]<class L>() {
      const T *a = x->data<T>(), *b = y->data<T>();
      T* result = buffer.rows().data<T>();
      if (reduction == Reduction::None) {
        for (int64_t i = 0; i < n; ++i) result[i] = L::template value<T>(a[i], b[i], options);
        return;
      }
      const double sum = sum_values<L, T>(a, b, n, options);
      *result = T(reduction == Reduction::Mean ? sum / double(n) : sum);
    });
  });
  buffer.finish();
}

TensorRef loss_slope(ElementLoss loss, Tensor& g, Tensor& input, Tensor& target, Reduction reduction, double parameter,
                     bool by_target) {
  const Options options{parameter};
  const DType compute = compute_of(input.dtype() == target.dtype() ? input.dtype() : result_type(input, target));
  const bool same =
      std::equal(input.sizes().begin(), input.sizes().end(), target.sizes().begin(), target.sizes().end());
  const Dims sizes = same ? Dims(input.sizes()) : broadcast_sizes(input.sizes(), target.sizes());
  if (g.is_meta()) return empty(sizes, compute, g.device());
  TensorRef x = expanded(input, sizes, compute), y = expanded(target, sizes, compute), out = empty(sizes, compute);
  const int64_t n = out->numel();
  TensorRef grads = reduction == Reduction::None ? expanded(g, sizes, compute) : to_dtype(g, compute);
  visit_compute(compute, "loss", [&]<class T>() {
    visit_loss(loss, [&]<class L>() {
      const T *a = x->data<T>(), *b = y->data<T>(), *dy = grads->data<T>();
      T* dx = out->data<T>();
      const auto slope = [&](int64_t i) {
        return by_target ? L::template target_slope<T>(a[i], b[i], options) : L::template slope<T>(a[i], b[i], options);
      };
      if (reduction == Reduction::None) {
        for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * slope(i);
      } else {
        const T scale = reduction == Reduction::Mean ? T(double(*dy) / double(n)) : *dy;
        for (int64_t i = 0; i < n; ++i) dx[i] = scale * slope(i);
      }
    });
  });
  return out;
}

}  // namespace kernels

namespace meta {

TensorRef mse_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                   std::string_view reduction, Tensor* weight) {
  kernels::refuse_weight("mse_loss", weight);
  return kernels::loss_result("mse_loss", input, target,
                              kernels::parse_reduction("mse_loss", reduction, size_average, reduce));
}
TensorRef l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                  std::string_view reduction, Tensor* weight) {
  kernels::refuse_weight("l1_loss", weight);
  return kernels::loss_result("l1_loss", input, target,
                              kernels::parse_reduction("l1_loss", reduction, size_average, reduce));
}
TensorRef smooth_l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                         std::string_view reduction, double beta) {
  if (beta < 0) fail("smooth_l1_loss does not support negative values for beta.");
  return kernels::loss_result("smooth_l1_loss", input, target,
                              kernels::parse_reduction("smooth_l1_loss", reduction, size_average, reduce));
}
TensorRef huber_loss(Tensor& input, Tensor& target, std::string_view reduction, double delta, Tensor* weight) {
  kernels::refuse_weight("huber_loss", weight);
  if (delta <= 0) fail("huber_loss does not support non-positive values for delta.");
  return kernels::loss_result("huber_loss", input, target, kernels::parse_reduction("huber_loss", reduction, {}, {}));
}

}  // namespace meta

namespace kernels {

void mse_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
              std::string_view reduction, Tensor*, Tensor& out) {
  run_loss(ElementLoss::Mse, input, target, parse_reduction("mse_loss", reduction, size_average, reduce), {}, out);
}
void l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
             std::string_view reduction, Tensor*, Tensor& out) {
  run_loss(ElementLoss::L1, input, target, parse_reduction("l1_loss", reduction, size_average, reduce), {}, out);
}
void smooth_l1_loss(Tensor& input, Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
                    std::string_view reduction, double beta, Tensor& out) {
  run_loss(beta == 0 ? ElementLoss::L1 : ElementLoss::SmoothL1, input, target,
           parse_reduction("smooth_l1_loss", reduction, size_average, reduce), {beta}, out);
}
void huber_loss(Tensor& input, Tensor& target, std::string_view reduction, double delta, Tensor*, Tensor& out) {
  run_loss(ElementLoss::Huber, input, target, parse_reduction("huber_loss", reduction, {}, {}), {delta}, out);
}

}  // namespace kernels
}  // namespace vivace
