// One direction of a recurrent layer: its geometry, and its gradients from what the forward pass kept.
#pragma once
#include <tuple>
#include <vector>

#include "runtime/core/tensor.h"

namespace vivace::kernels {

enum RecurrentMode : int64_t { kLstm, kGru, kTanh, kRelu };

/// Blocks of H in the gates.
constexpr int64_t gate_blocks(int64_t mode) { return mode == kLstm ? 4 : mode == kGru ? 3 : 1; }

/// The steps in the order in which they run: step i reads `counts[i]` sequences, whose rows begin at `starts[i]`.
struct RecurrentSteps {
  std::vector<int64_t> counts, starts;
  int64_t rows = 0;  // of all steps

  /// `gates` is (T, B, G * H), or (N, G * H) with the batch sizes of its steps or without (one step).
  RecurrentSteps(const Tensor& gates, Tensor* batch_sizes, bool reverse);
  size_t size() const { return counts.size(); }
};

using RecurrentGrads = std::tuple<TensorRef, TensorRef, TensorRef, TensorRef, TensorRef, TensorRef>;

/// Gradients of gates, h0, c0, weight_hh, bias_hh and weight_hr as far as `needs` names them; `outputs` and `kept` are
/// the first and the last result of the operator.
RecurrentGrads recurrence_grad(Tensor* g_outputs, Tensor* g_h, Tensor* g_c, Tensor& h0, Tensor* c0, Tensor& weight_hh,
                               Tensor* weight_hr, Tensor* batch_sizes, int64_t mode, bool reverse, Tensor& outputs,
                               Tensor& kept, uint64_t needs);

}  // namespace vivace::kernels
