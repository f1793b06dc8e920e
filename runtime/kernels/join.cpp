// Joining and repeating: cat, stack, repeat. Pieces that lie contiguous are moved by memcpy, others through a view of
// the result.
#include <cstring>
#include <vector>

#include "generated/kernels/index/join.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/layout.h"
#include "runtime/loop/nest.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

/// An empty vector, which cat() passes over whatever the other shapes are.
bool is_passed_over(const Tensor& t) { return t.ndim_ == 1 && t.numel() == 0; }

/// The channels-last format that all tensors are dense in, or Contiguous.
MemoryFormat common_format(TensorList tensors) {
  const int n = tensors[0]->ndim_;
  if (n != 4 && n != 5) return MemoryFormat::Contiguous;
  const MemoryFormat format = n == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  for (const Tensor* t : tensors)
    if (t->ndim_ != n || t->is_contiguous() || !t->is_contiguous(format)) return MemoryFormat::Contiguous;
  return format;
}

}  // namespace

namespace meta {

TensorRef cat(TensorList tensors, int64_t dim) {
  if (tensors.empty()) fail_value("torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  Dims sizes;
  int64_t total = 0, position = 0;
  int at = 0;
  bool one_type = true;
  for (Tensor* t : tensors) {
    if (t->dim() == 0) fail("zero-dimensional tensor (at position ", position, ") cannot be concatenated");
    one_type &= t->dtype() == tensors[0]->dtype();
    if (is_passed_over(*t)) {
      ++position;
      continue;
    }
    if (!first) {
      first = t;
      sizes = Dims(t->sizes());
      at = int(wrap_dim(dim, t->dim()));
    } else {
      if (t->ndim_ != first->ndim_)
        fail("Tensors must have same number of dimensions: got ", first->dim(), " and ", t->dim());
      for (int d = 0; d < t->ndim_; ++d)
        if (d != at && t->dims_[d] != sizes[d]) [[unlikely]]
          fail("Sizes of tensors must match except in dimension ", at, ". Expected size ", sizes[d], " but got size ",
               t->dims_[d], " for tensor number ", position, " in the list.");
    }
    total += t->dims_[at];
    ++position;
  }
  const DType dtype = one_type ? tensors[0]->dtype() : result_type(tensors);
  if (!first) {
    wrap_dim(dim, 1);
    return empty({0}, dtype, tensors[0]->device());
  }
  sizes[at] = total;
  return kernels::empty_images(sizes, dtype, first->device(), common_format(tensors));
}

TensorRef stack(TensorList tensors, int64_t dim) {
  if (tensors.empty()) fail("stack expects a non-empty TensorList");
  const Tensor& first = *tensors[0];
  const int at = int(wrap_dim(dim, first.dim() + 1));
  bool one_type = true;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Tensor& t = *tensors[i];
    one_type &= t.dtype() == first.dtype();
    if (t.ndim_ != first.ndim_ || std::memcmp(t.dims_, first.dims_, t.ndim_ * sizeof(int64_t)) != 0)
      fail("stack expects each tensor to be equal size, but got ", first.sizes(), " at entry 0 and ", t.sizes(),
           " at entry ", i);
  }
  Dims sizes;
  for (int d = 0; d < at; ++d) sizes.push(first.dims_[d]);
  sizes.push(int64_t(tensors.size()));
  for (int d = at; d < first.ndim_; ++d) sizes.push(first.dims_[d]);
  const DType dtype = one_type ? first.dtype() : result_type(tensors);
  const MemoryFormat format = at < first.ndim_ ? common_format(tensors) : MemoryFormat::Contiguous;
  if (format == MemoryFormat::Contiguous) return empty(sizes, dtype, first.device());
  Dims joined(first.sizes());  // laid out as if joined along the dim, which is split then
  joined[at] *= sizes[at];
  Dims strides;
  const Dims whole = kernels::format_strides(joined, format);
  for (int d = 0; d < whole.n; ++d) {
    if (d == at) strides.push(whole[d] * first.dims_[d]);
    strides.push(whole[d]);
  }
  return empty_strided(sizes, strides, dtype, first.device());
}

TensorRef repeat(Tensor& self, IntList repeats) {
  const int lead = int(repeats.size()) - self.ndim_;
  if (lead < 0)
    fail("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: repeat(", repeats,
         ") of a tensor of shape ", self.sizes());
  Dims sizes(repeats);
  for (int d = 0; d < sizes.n; ++d) {
    if (sizes[d] < 0) fail("Trying to create tensor with negative dimension ", sizes[d], ": repeat(", repeats, ")");
    if (d >= lead && __builtin_mul_overflow(sizes[d], self.dims_[d - lead], &sizes[d]))
      fail("repeat(", repeats, ") of a tensor of shape ", self.sizes(), ": the size of dimension ", d, " overflows");
  }
  return empty(sizes, self.dtype(), self.device());
}

}  // namespace meta

namespace kernels {
namespace {

constexpr int64_t kGrain = 128 * 1024;  // bytes that are worth a thread
constexpr int64_t kBlock = 16 * 1024;   // bytes of the result that the pieces fill in turn

/// A tensor's part of each line of the result.
struct Piece {
  const char* from;
  int64_t start, bytes;

  /// Its parts of lines [begin, end).
  void copy(char* out, int64_t line, int64_t begin, int64_t end) const {
    const auto copy_parts = [&](auto size) {
      char* to = out + begin * line + start;
      const char* part = from + begin * bytes;
      for (int64_t i = begin; i < end; ++i, to += line, part += bytes) std::memcpy(to, part, size_t(size));
    };
    switch (bytes) {
      case 1:
        return copy_parts(std::integral_constant<int, 1>());
      case 2:
        return copy_parts(std::integral_constant<int, 2>());
      case 4:
        return copy_parts(std::integral_constant<int, 4>());
      case 8:
        return copy_parts(std::integral_constant<int, 8>());
      case 16:
        return copy_parts(std::integral_constant<int, 16>());
      default:
        return copy_parts(bytes);
    }
  }
};

/// A view of `out` at `start` along a dim with the sizes of `t` (with a dim of size 1 put in for stack), made without
/// autograd.
void copy_piece(Tensor& out, int at, int64_t start, const Tensor& t, bool stacked) {
  Dims strides;
  for (int d = 0; d < out.ndim_; ++d)
    if (!stacked || d != at) strides.push(out.dims_[out.ndim_ + d]);
  const TensorRef piece = vivace::alias(out);
  set_layout(*piece, t.sizes(), strides, out.storage_offset() + start * out.dims_[out.ndim_ + at]);
  copy_into(*piece, t);
}

void join(TensorList tensors, int at, bool stacked, Tensor& out) {
  if (out.numel() == 0 || out.is_meta()) return;
  const bool dense = out.is_contiguous();
  const int64_t size = int64_t(out.item_size());
  int64_t inner = size, outer = 1;
  for (int d = at + 1; d < out.ndim_; ++d) inner *= out.dims_[d];
  for (int d = 0; d < at; ++d) outer *= out.dims_[d];
  // Contiguous tensors are joined line by line, so that the result is written in one go.
  std::vector<Piece> pieces;
  int64_t start = 0;
  for (Tensor* t : tensors) {
    if (t->numel() == 0) {
      start += stacked ? 1 : is_passed_over(*t) ? 0 : t->dims_[at];
      continue;
    }
    const int64_t length = stacked ? 1 : t->dims_[at];
    if (dense && t->dtype() == out.dtype() && t->is_contiguous())
      pieces.push_back({t->raw(), start * inner, length * inner});
    else
      copy_piece(out, at, start, *t, stacked);
    start += length;
  }
  const int64_t line = out.dims_[at] * inner;
  parallel_for(0, outer, kGrain / std::max<int64_t>(1, line) + 1, [&](int64_t begin, int64_t end) {
    const int64_t at_once = std::max<int64_t>(1, kBlock / std::max<int64_t>(1, line));
    for (int64_t i = begin; i < end; i += at_once)
      for (const Piece& piece : pieces) piece.copy(out.raw(), line, i, std::min(end, i + at_once));
  });
}

}  // namespace

void cat(TensorList tensors, int64_t dim, Tensor& out) { join(tensors, int(wrap_dim(dim, out.dim())), false, out); }
void stack(TensorList tensors, int64_t dim, Tensor& out) { join(tensors, int(wrap_dim(dim, out.dim())), true, out); }

void repeat(Tensor& self, IntList repeats, Tensor& out) {
  if (out.numel() == 0) return;
  // Seen as (repeats, size) pairs of dims, the result is self broadcast over the first of each pair.
  Nest<2> nest;
  nest.base[0] = out.raw();
  nest.base[1] = self.raw();
  const int lead = int(repeats.size()) - self.ndim_;
  const int64_t size = int64_t(self.item_size());
  int64_t step = size;
  for (int d = out.ndim_ - 1; d >= 0; --d) {
    const int64_t have = d < lead ? 1 : self.dims_[d - lead];
    if (d >= lead) nest.push(have, {step, have == 1 ? 0 : self.dims_[self.ndim_ + d - lead] * size});
    nest.push(repeats[d], {step * have, 0});
    step *= out.dims_[d];
  }
  nest.coalesce();
  nest.run([&](char** p, int64_t n, const int64_t* s) {
    convert_run(out.dtype(), p[0], s[0], self.dtype(), p[1], s[1], n);
  });
}

}  // namespace kernels
}  // namespace vivace
