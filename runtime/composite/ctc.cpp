// ctc_loss: lengths as tensors or numbers, single sequences, and the reductions.
#include <limits>

#include "generated/kernels/nn/ctc.h"
#include "generated/ops/nn/ctc.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "runtime/composite/value.h"

namespace vivace::composite {
namespace {

enum Reduction { kNone, kMean, kSum };

std::vector<int64_t> lengths_of(Tensor& t, const char* name) {
  if (!is_integral(t.dtype())) fail(name, " must be integral");
  if (t.is_meta()) fail_not_implemented("ctc_loss: lengths on the meta device have no values");
  require_values(t);
  return integers_of(t);
}

}  // namespace

TensorRef ctc_loss_IntList(Tensor& log_probs, Tensor& targets, IntList input_lengths, IntList target_lengths,
                           int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool is_single = log_probs.dim() == 2;
  const TensorRef batch = is_single ? ops::unsqueeze(log_probs, 1) : TensorRef::share(&log_probs);
  const TensorRef labels = is_single && targets.dim() == 1 ? ops::unsqueeze(targets, 0) : TensorRef::share(&targets);
  TensorRef losses = std::get<0>(ops::_ctc_loss(*batch, *labels, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) {
    const TensorRef infinite = ops::eq_Scalar(*losses, std::numeric_limits<double>::infinity());
    losses = ops::masked_fill_Scalar(*losses, *infinite, 0);
  }
  if (reduction == kMean) {
    const TensorRef lengths = empty({int64_t(target_lengths.size())}, losses->dtype(), losses->device());
    for (size_t n = 0; n < target_lengths.size(); ++n)
      fill_into(*make_view(*lengths, Dims{}, Dims{}, int64_t(n)), std::max<int64_t>(target_lengths[n], 1));
    return ops::mean(*ops::div_Tensor(*losses, *lengths), std::nullopt);
  }
  if (reduction == kSum) return ops::sum(*losses, std::nullopt);
  return is_single ? ops::squeeze_dim(*losses, 0) : losses;
}

TensorRef ctc_loss_Tensor(Tensor& log_probs, Tensor& targets, Tensor& input_lengths, Tensor& target_lengths,
                          int64_t blank, int64_t reduction, bool zero_infinity) {
  const auto in = lengths_of(input_lengths, "input_lengths"), out = lengths_of(target_lengths, "target_lengths");
  return ctc_loss_IntList(log_probs, targets, in, out, blank, reduction, zero_infinity);
}

}  // namespace vivace::composite
