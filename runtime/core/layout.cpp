// Questions about sizes and strides.
#include <algorithm>

#include "runtime/core/tensor.h"

namespace vivace {

namespace {

/// Whether `t`, its dims taken in the given order (outermost first), is row-major without gaps.
bool dense_in_order(const Tensor& t, const int* order) {
  int64_t expected = 1;
  for (int k = t.ndim_ - 1; k >= 0; --k) {
    const int d = order[k];
    if (t.dims_[d] == 1) continue;
    if (t.dims_[t.ndim_ + d] != expected) return false;
    expected *= t.dims_[d];
  }
  return true;
}

}  // namespace

bool Tensor::is_contiguous() const {
  if (row_major_ || numel_ == 0) return true;
  int64_t expected = 1;
  for (int d = ndim_ - 1; d >= 0; --d) {
    if (dims_[d] == 1) continue;
    if (dims_[ndim_ + d] != expected) return false;
    expected *= dims_[d];
  }
  return true;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  constexpr int last2d[] = {0, 2, 3, 1}, last3d[] = {0, 2, 3, 4, 1};
  switch (format) {
    case MemoryFormat::ChannelsLast:
      return ndim_ == 4 && (numel_ == 0 || dense_in_order(*this, last2d));
    case MemoryFormat::ChannelsLast3d:
      return ndim_ == 5 && (numel_ == 0 || dense_in_order(*this, last3d));
    default:
      return is_contiguous();
  }
}

bool Tensor::is_non_overlapping_and_dense() const {
  if (is_contiguous()) return true;
  int order[kMaxDims];
  const int64_t* strides = dims_ + ndim_;
  int n = 0;
  for (int d = 0; d < ndim_; ++d) {  // insertion sort by stride, largest first; dims of size 1 don't matter
    if (dims_[d] == 1) continue;
    int k = n++;
    for (; k > 0 && strides[order[k - 1]] < strides[d]; --k) order[k] = order[k - 1];
    order[k] = d;
  }
  int64_t expected = 1;
  for (int k = n - 1; k >= 0; --k) {
    if (strides[order[k]] != expected) return false;
    expected *= dims_[order[k]];
  }
  return true;
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.sizes(), b.sizes()) &&
         (std::ranges::equal(a.strides(), b.strides()) || (a.is_contiguous() && b.is_contiguous()));
}
void fail_too_many_dims(size_t n) { fail("tensors have at most ", kMaxDims, " dimensions, got ", n); }

Dims contiguous_strides(IntList sizes) {
  Dims strides(sizes);
  uint64_t step = 1;  // wraps where a dim of size 0 stands before large ones
  for (int d = strides.n - 1; d >= 0; --d) {
    strides[d] = int64_t(step);
    step *= sizes[d] > 1 ? uint64_t(sizes[d]) : 1;
  }
  return strides;
}

Dims broadcast_sizes(IntList a, IntList b) {
  const int n = int(a.size() > b.size() ? a.size() : b.size());
  Dims out(a.size() > b.size() ? a : b);
  for (int k = 1; k <= n; ++k) {  // k-th dim from the end
    const int64_t x = k <= int(a.size()) ? a[a.size() - k] : 1, y = k <= int(b.size()) ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1)
      fail("The size of tensor a (", x, ") must match the size of tensor b (", y, ") at non-singleton dimension ",
           n - k, "; the shapes are ", a, " and ", b);
    out[n - k] = x == 1 ? y : x;
  }
  return out;
}

int64_t count(IntList sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes)
    if (__builtin_mul_overflow(n, s, &n)) fail("the number of elements of a tensor of shape ", sizes, " overflows");
  return n;
}

uint64_t dim_mask(std::optional<IntList> dims, int64_t ndim) {
  const uint64_t all = ndim >= 64 ? ~uint64_t(0) : (uint64_t(1) << ndim) - 1;
  if (!dims || dims->empty()) return all;
  uint64_t mask = 0;
  for (const int64_t d : *dims) {
    const uint64_t b = uint64_t(1) << wrap_dim(d, ndim);
    if (mask & b) fail("dim ", wrap_dim(d, ndim), " appears multiple times in the list of dims");
    mask |= b;
  }
  return ndim == 0 ? 0 : mask;
}

}  // namespace vivace
