// Steps of SGD and Adam over all parameters in one call. Gradients are read from the parameters; one without is left
// alone. Arithmetic follows PyTorch's single-tensor loops operation by operation, so that losses agree.
#include <cmath>
#include <utility>

#include "generated/kernels/nn/steps.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {
namespace {

constexpr int64_t kGrain = 65536;

/// An array that a step reads and writes: the tensor's own memory, or a wider or contiguous copy that goes back at the
/// end.
class Array {
 public:
  Array(Tensor* t, DType compute) : target_(t) {
    if (!t) return;
    if (t->is_contiguous() && t->dtype() == compute) {
      raw_ = t->raw();
    } else {
      copy_ = dense_in(t, compute);
      if (copy_.get() == t) copy_ = {};
      raw_ = copy_ ? copy_->raw() : t->raw();
    }
  }
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(raw_);
  }
  void finish() {
    if (!target_) return;
    if (copy_) copy_into(*target_, *copy_);
    bump_version(*target_);
  }

 private:
  Tensor* target_;
  TensorRef copy_;
  char* raw_ = nullptr;
};

Tensor* at(TensorList list, size_t i) { return list.empty() ? nullptr : list[i]; }

void check_lengths(const char* op, const char* name, TensorList list, size_t n) {
  if (!list.empty() && list.size() != n) fail(op, ": ", name, " has ", list.size(), " tensors, but params has ", n);
}

void check_like(const char* op, const char* name, const Tensor* t, const Tensor& param) {
  if (t && (t->numel() != param.numel() ||
            !std::equal(t->sizes().begin(), t->sizes().end(), param.sizes().begin(), param.sizes().end())))
    fail(op, ": ", name, " has shape ", t->sizes(), ", but its parameter has shape ", param.sizes());
}

/// The gradient as the step reads it, null if there is none.
TensorRef gradient(const Tensor& param, DType compute) {
  return param.grad ? dense_in(param.grad, compute) : TensorRef();
}

}  // namespace

void fused_sgd_(TensorList params, TensorList momentum_buffers, double lr, double momentum, double dampening,
                double weight_decay, bool nesterov, bool maximize, bool first) {
  check_lengths("_fused_sgd_", "momentum_buffers", momentum_buffers, params.size());
  const dense::SgdStep step{lr, momentum, dampening, weight_decay, nesterov, maximize, first};
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor& param = *params[i];
    check_floating(param.dtype(), "_fused_sgd_");
    const DType compute = compute_of(param.dtype());
    TensorRef grad = gradient(param, compute);
    if (!grad || param.is_meta()) continue;
    Tensor* buffer = momentum != 0 ? at(momentum_buffers, i) : nullptr;
    check_like("_fused_sgd_", "a momentum buffer", buffer, param);
    Array p(&param, compute), b(buffer, compute);
    visit_compute(compute, "_fused_sgd_", [&]<class T>() {
      T *x = p.data<T>(), *m = b.data<T>();
      const T* g = grad->data<T>();
      parallel_for(0, param.numel(), kGrain, [=, &step](int64_t s, int64_t e) {
        dense::loops<T>().sgd(step, x + s, g + s, m ? m + s : m, e - s);
      });
    });
    p.finish();
    b.finish();
  }
}

void fused_adam_(TensorList params, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                 TensorList state_steps, double lr, double beta1, double beta2, double weight_decay, double eps,
                 bool amsgrad, bool maximize, bool decoupled) {
  for (const auto& [name, list] :
       {std::pair{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}, {"state_steps", state_steps}})
    if (list.size() != params.size())
      fail("_fused_adam_: ", name, " has ", list.size(), " tensors, but params has ", params.size());
  check_lengths("_fused_adam_", "max_exp_avg_sqs", max_exp_avg_sqs, params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor& param = *params[i];
    check_floating(param.dtype(), "_fused_adam_");
    const DType compute = compute_of(param.dtype());
    TensorRef grad = gradient(param, compute);
    if (!grad || param.is_meta()) continue;
    Tensor& steps = *state_steps[i];
    if (steps.dtype() != DType::Float32 || steps.numel() != 1)
      fail("_fused_adam_: state_steps must be float32 tensors of one element");
    const double t = double(*steps.data<float>() += 1.0f);
    bump_version(steps);
    const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(beta2, t);
    const dense::AdamStep step{beta1,
                               beta2,
                               eps,
                               decoupled ? 0 : weight_decay,
                               lr / correction1,
                               std::sqrt(correction2),
                               decoupled ? 1 - lr * weight_decay : 1,
                               maximize};
    Tensor* max_square = amsgrad ? at(max_exp_avg_sqs, i) : nullptr;
    check_like("_fused_adam_", "an average", exp_avgs[i], param);
    check_like("_fused_adam_", "an average of squares", exp_avg_sqs[i], param);
    check_like("_fused_adam_", "a maximum", max_square, param);
    Array p(&param, compute), m(exp_avgs[i], compute), v(exp_avg_sqs[i], compute), top(max_square, compute);
    visit_compute(compute, "_fused_adam_", [&]<class T>() {
      T *x = p.data<T>(), *a = m.data<T>(), *b = v.data<T>(), *c = top.data<T>();
      const T* g = grad->data<T>();
      parallel_for(0, param.numel(), kGrain, [=, &step](int64_t s, int64_t e) {
        dense::loops<T>().adam(step, x + s, g + s, a + s, b + s, c ? c + s : c, e - s);
      });
    });
    for (Array* array : {&p, &m, &v, &top}) array->finish();
  }
}

TensorRef fused_clip_grad_norm_(TensorList params, double max_norm, double norm_type) {
  double total = 0;
  DType dtype = default_dtype;  // of the first gradient, if there is one
  bool first = true;
  for (Tensor* param : params) {
    if (!param->grad) continue;
    if (std::exchange(first, false)) dtype = param->grad->dtype();
    if (param->grad->is_meta()) return empty(IntList(), dtype, param->grad->device());
    TensorRef grad = dense_in(param->grad, compute_of(param->grad->dtype()));
    visit_compute(grad->dtype(), "_fused_clip_grad_norm_", [&]<class T>() {
      const T* g = grad->data<T>();
      const int64_t n = grad->numel();
      if (norm_type == 2) {
        total += dense::loops<T>().sum_squares(g, n, T(0));
      } else {
        for (int64_t i = 0; i < n; ++i) {
          const double x = std::fabs(double(g[i]));
          total = std::isinf(norm_type) ? (x > total || x != x ? x : total) : total + std::pow(x, norm_type);
        }
      }
    });
  }
  const double norm = norm_type == 2          ? std::sqrt(total)
                      : std::isinf(norm_type) ? total
                                              : std::pow(total, 1 / norm_type);
  const double scale = max_norm / (norm + 1e-6);
  if (!(scale >= 1)) {  // NaN scales, too
    for (Tensor* param : params) {
      if (!param->grad) continue;
      Array g(param->grad, compute_of(param->grad->dtype()));
      visit_compute(param->grad->dtype(), "_fused_clip_grad_norm_", [&]<class T>() {
        dense::loops<T>().scale_shift(g.data<T>(), g.data<T>(), param->grad->numel(), T(scale), T(0));
      });
      g.finish();
    }
  }
  return scalar_tensor(Scalar(norm), dtype);
}

}  // namespace vivace::kernels
