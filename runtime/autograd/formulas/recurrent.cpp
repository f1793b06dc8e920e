// Derivatives of recurrent layers: from what the forward pass kept; where a graph is asked for, the steps run again in
// operators and autograd goes through them.
#include "runtime/kernels/recurrent.h"

#include <algorithm>

#include "generated/formulas/nn/recurrent.h"
#include "generated/ops/index/join.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/pointwise/activation.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/trig.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/formulas/var.h"
#include "runtime/autograd/grad.h"
#include "runtime/dispatch/keys.h"

namespace vivace::formulas {
namespace {

using kernels::kGru;
using kernels::kLstm;
using kernels::kTanh;

Var sigmoid(const Var& x) { return ops::sigmoid(*x); }
Var tanh(const Var& x) { return ops::tanh(*x); }
Var rows(const Var& t, int64_t start, int64_t n) { return n == (*t).size(0) ? t : Var(ops::narrow(*t, 0, start, n)); }
/// t with its first rows replaced.
Var replace_rows(const Var& t, const Var& first) {
  const int64_t n = (*first).size(0), all = (*t).size(0);
  if (n == all) return first;
  const Var rest = rows(t, n, all - n);
  Tensor* parts[] = {first.ref.get(), rest.ref.get()};
  return ops::cat(parts, 0);
}

struct States {
  Var h;
  TensorRef c;
};
/// One step over as many rows as x has.
States step(int64_t mode, const Var& x, const States& before, Tensor& weight_hh, Tensor* bias_hh, Tensor* weight_hr) {
  const Var y = ops::linear(*before.h, weight_hh, bias_hh);
  const int64_t n = (*x).size(-1) / kernels::gate_blocks(mode);
  const auto part = [n](const Var& t, int64_t k) -> Var { return ops::narrow(*t, -1, k * n, n); };
  const auto both = [&](int64_t k) { return part(x, k) + part(y, k); };
  if (mode == kLstm) {
    const Var c = sigmoid(both(1)) * Var(*before.c) + sigmoid(both(0)) * tanh(both(2)), h = sigmoid(both(3)) * tanh(c);
    return {weight_hr ? Var(ops::linear(*h, *weight_hr)) : h, c};
  }
  if (mode == kGru) {
    const Var fresh = tanh(part(x, 2) + sigmoid(both(0)) * part(y, 2));
    return {(before.h - fresh) * sigmoid(both(1)) + fresh, {}};
  }
  return {mode == kTanh ? tanh(x + y) : Var(ops::relu(*(x + y))), {}};
}

}  // namespace

kernels::RecurrentGrads recurrence_backward(Tensor* g_outputs, Tensor* g_h, Tensor* g_c, Tensor& gates, Tensor& h0,
                                            Tensor* c0, Tensor& weight_hh, Tensor* bias_hh, Tensor* weight_hr,
                                            Tensor* batch_sizes, int64_t mode, bool reverse, Needs needs) {
  BackwardOptions options;
  options.create_graph = options.keep_graph = tls.grad_mode;
  options.accumulate = false;
  const GradModeGuard recording(true);
  // Aliases end the run: the arguments themselves may depend on each other.
  TensorRef cut[6];
  Tensor* const arguments[] = {&gates, &h0, c0, &weight_hh, bias_hh, weight_hr};
  std::vector<Endpoint> ends;
  for (int i = 0; i < 6; ++i) {
    if (!arguments[i]) continue;
    cut[i] = ops::alias(*arguments[i]);
    if (!wants(needs, i)) continue;
    if (!cut[i]->requires_grad()) set_requires_grad(*cut[i], true);  // for tangents, its gradient is asked for
    ends.push_back({cut[i].get(), {}});
  }
  const kernels::RecurrentSteps steps(gates, batch_sizes, reverse);
  const int64_t flat[] = {steps.rows, gates.size(-1)};
  const Var x = Var(*cut[0]).reshape(flat);
  States states{*cut[1], cut[2]};
  std::vector<Var> outputs;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t n = steps.counts[i];
    const States before{rows(states.h, 0, n), c0 ? TensorRef(rows(*states.c, 0, n)) : TensorRef()},
        now = step(mode, ops::narrow(*x, 0, steps.starts[i], n), before, *cut[3], cut[4].get(), cut[5].get());
    states.h = replace_rows(states.h, now.h);
    if (c0) states.c = replace_rows(*states.c, *now.c);
    outputs.push_back(now.h);
  }
  if (reverse) std::reverse(outputs.begin(), outputs.end());
  std::vector<Tensor*> parts;
  for (const Var& output : outputs) parts.push_back(output.ref.get());
  std::vector<Endpoint> roots;
  std::vector<Tensor*> gradients;
  const auto root = [&](Tensor* result, Tensor* g) {
    if (!g || !result->requires_grad()) return;
    roots.push_back({result, {}});
    gradients.push_back(g);
  };
  TensorRef joined, all;
  if (g_outputs && !parts.empty()) {
    joined = ops::cat(parts, 0);
    all = ops::reshape(*joined, g_outputs->sizes());
    root(all.get(), g_outputs);
  }
  root(states.h.ref.get(), g_h);
  if (c0) root(states.c.get(), g_c);
  std::vector<TensorRef> found = run_backward(roots, gradients, ends, options);
  TensorRef grads[6];
  size_t next = 0;
  for (int i = 0; i < 6; ++i)
    if (arguments[i] && wants(needs, i)) grads[i] = std::move(found[next++]);
  return {std::move(grads[0]), std::move(grads[1]), std::move(grads[2]),
          std::move(grads[3]), std::move(grads[4]), std::move(grads[5])};
}

kernels::RecurrentGrads recurrence_backward_fused(Tensor* g_outputs, Tensor* g_h, Tensor* g_c, Tensor& h0, Tensor* c0,
                                                  Tensor& weight_hh, Tensor* weight_hr, Tensor* batch_sizes,
                                                  int64_t mode, bool reverse, Tensor& outputs, Tensor& kept,
                                                  Needs needs) {
  return kernels::recurrence_grad(g_outputs, g_h, g_c, h0, c0, weight_hh, weight_hr, batch_sizes, mode, reverse,
                                  outputs, kept, needs);
}

}  // namespace vivace::formulas
