// Overlap is decided by strides and address ranges: exact for layouts without gaps, PyTorch's answer for others.
#include "runtime/core/overlap.h"

#include <algorithm>

namespace vivace {

namespace {

enum class Overlap { None, Partial, Full };

/// As far as two dense tensors show it; others count as apart, as in PyTorch.
Overlap overlap(const Tensor& a, const Tensor& b) {
  if (&a == &b) return Overlap::Full;
  if (a.storage_ != b.storage_ || a.numel_ == 0 || b.numel_ == 0) return Overlap::None;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return Overlap::None;
  const char *a_end = a.raw() + a.nbytes(), *b_end = b.raw() + b.nbytes();
  if (a.raw() == b.raw() && a_end == b_end && std::ranges::equal(a.strides(), b.strides())) return Overlap::Full;
  return a.raw() < b_end && b.raw() < a_end ? Overlap::Partial : Overlap::None;
}

void refuse_overlap() {
  fail(
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.");
}

}  // namespace

bool has_internal_overlap(const Tensor& t) {
  if (t.is_non_overlapping_and_dense()) return false;
  for (int d = 0; d < t.ndim_; ++d)
    if (t.dims_[d] > 1 && t.dims_[t.ndim_ + d] == 0) return true;
  return false;
}

void check_no_internal_overlap(const Tensor& out) {
  if (has_internal_overlap(out))
    fail(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.");
}

void check_no_partial_overlap(const Tensor& out, const Tensor& in) {
  if (overlap(out, in) == Overlap::Partial) refuse_overlap();
}

void check_no_overlap(const Tensor& out, const Tensor& in) {
  if (overlap(out, in) != Overlap::None) refuse_overlap();
}

}  // namespace vivace
