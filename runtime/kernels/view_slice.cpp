// Views of a part: select, slice, the split family, diagonal, sliding windows.
#include <algorithm>

#include "generated/kernels/view/copies.h"
#include "generated/kernels/view/parts.h"
#include "runtime/core/saturate.h"
#include "runtime/dispatch/keys.h"

namespace vivace::kernels {
namespace {

/// The stretch [start, start + length) of a dim, every step-th element.
TensorRef stretch(Tensor& self, int dim, int64_t start, int64_t length, int64_t step = 1) {
  const int n = self.ndim_;
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + start * self.dims_[n + dim];
  sizes[dim] = length;
  strides[dim] = stepped(strides[dim], step);
  return make_view(self, sizes, strides, offset);
}

TensorRef without_dim(Tensor& self, int dim, int64_t index) {
  const int n = self.ndim_;
  int64_t buffer[2 * kMaxDims], *sizes = buffer, *strides = buffer + kMaxDims;
  for (int d = 0, k = 0; d < n; ++d) {
    if (d == dim) continue;
    sizes[k] = self.dims_[d];
    strides[k++] = self.dims_[n + d];
  }
  const IntList rest_sizes(sizes, size_t(n - 1)), rest_strides(strides, size_t(n - 1));
  return make_view(self, rest_sizes, rest_strides, self.storage_offset() + index * self.dims_[n + dim]);
}

constexpr int64_t kMostViews = int64_t(1) << 24;

/// Room for n views; a dim beside an empty one may ask for any number.
std::vector<TensorRef> room_for(const char* op, int64_t n) {
  if (n > kMostViews) fail(op, ": not enough memory for ", n, " views");
  std::vector<TensorRef> views;
  views.reserve(size_t(n));
  return views;
}

/// What a function gives that returns several views at once.
std::vector<TensorRef> several(std::vector<TensorRef> views) {
  if (tls.grad_mode && !tls.inference_mode)
    for (TensorRef& part : views) part->origin = ViewOrigin::OneOfSeveral;
  return views;
}

/// The same memory, and to autograd nobody's view.
std::vector<TensorRef> unsafe(std::vector<TensorRef> views) {
  for (TensorRef& part : views) part = alias(*part);
  return views;
}

int dim_of(const Tensor& self, int64_t dim, const char* op) {
  if (self.dim() == 0) fail(op, " expects at least a 1-dimensional tensor");
  return int(wrap_dim(dim, self.dim()));
}

}  // namespace

TensorRef select_int(Tensor& self, int64_t dim, int64_t index) {
  if (self.dim() == 0) fail_index("select() cannot be applied to a 0-dim tensor.");
  const int d = int(wrap_dim(dim, self.dim()));
  const int64_t size = self.dims_[d];
  if (index < -size || index >= size)
    fail_index("select(): index ", index, " out of range for tensor of size ", self.sizes(), " at dimension ", d);
  return without_dim(self, d, index < 0 ? index + size : index);
}

TensorRef slice_Tensor(Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                       int64_t step) {
  if (self.dim() == 0) fail("slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) fail("slice step must be positive");
  const int d = int(wrap_dim(dim, self.dim()));
  const int64_t size = self.dims_[d];
  const auto place = [size](int64_t x, int64_t least) { return std::clamp(x < 0 ? x + size : x, least, size); };
  const int64_t first = place(start.value_or(0), 0), last = place(end.value_or(size), first);
  return stretch(self, d, first, last > first ? (last - first - 1) / step + 1 : 0, step);
}

TensorRef narrow(Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.dim() == 0) fail("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) fail("narrow(): length must be non-negative.");
  const int d = int(wrap_dim(dim, self.dim()));
  const int64_t size = self.dims_[d];
  if (start < -size || start > size)
    fail_index("start out of range (expected to be in range of [-", size, ", ", size, "], but got ", start, ")");
  const int64_t first = start < 0 ? start + size : start;
  if (first > size - length) fail("start (", first, ") + length (", length, ") exceeds dimension size (", size, ").");
  return stretch(self, d, first, length);
}

std::vector<TensorRef> unbind_int(Tensor& self, int64_t dim) {
  if (self.dim() == 0) fail_index("Dimension specified as ", dim, " but tensor has no dimensions");
  const int d = int(wrap_dim(dim, self.dim()));
  std::vector<TensorRef> parts = room_for("unbind", self.dims_[d]);
  for (int64_t i = 0; i < self.dims_[d]; ++i) parts.push_back(without_dim(self, d, i));
  return several(std::move(parts));
}

std::vector<TensorRef> split_Tensor(Tensor& self, int64_t split_size, int64_t dim) {
  const int d = dim_of(self, dim, "split()");
  const int64_t size = self.dims_[d];
  if (split_size < 0) fail("split expects split_size be non-negative, but got split_size=", split_size);
  if (split_size == 0 && size != 0)
    fail("split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  const int64_t count = split_size == 0 ? 1 : std::max<int64_t>(size / split_size + (size % split_size != 0), 1);
  std::vector<TensorRef> parts = room_for("split", count);
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(stretch(self, d, i * split_size, std::min(split_size, size - i * split_size)));
  return several(std::move(parts));
}

std::vector<TensorRef> split_with_sizes(Tensor& self, IntList split_sizes, int64_t dim) {
  const int d = dim_of(self, dim, "split_with_sizes()");
  int64_t sum = 0;
  for (int64_t s : split_sizes) {
    if (s < 0)
      fail("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", split_sizes);
    sum = s > self.dims_[d] - sum ? INT64_MAX : sum + s;  // no sum of larger ones may come round to the size
    if (sum == INT64_MAX) break;
  }
  if (sum != self.dims_[d])
    fail("split_with_sizes expects split_sizes to sum exactly to ", self.dims_[d],
         " (input tensor's size at dimension ", dim, "), but got split_sizes=", split_sizes);
  std::vector<TensorRef> parts;
  parts.reserve(split_sizes.size());
  int64_t start = 0;
  for (int64_t s : split_sizes) {
    parts.push_back(stretch(self, d, start, s));
    start += s;
  }
  return several(std::move(parts));
}

std::vector<TensorRef> chunk(Tensor& self, int64_t chunks, int64_t dim) {
  const int d = dim_of(self, dim, "chunk()");
  if (chunks <= 0) fail("chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.dims_[d], each = size / chunks + (size % chunks != 0);
  if (each == 0) {  // an empty dim still gives as many chunks as were asked for
    std::vector<TensorRef> parts = room_for("chunk of an empty dimension", chunks);
    for (int64_t i = 0; i < chunks; ++i) parts.push_back(stretch(self, d, 0, 0));
    return several(std::move(parts));
  }
  std::vector<TensorRef> parts = room_for("chunk", (size - 1) / each + 1);
  for (int64_t at = 0; at < size; at += each) parts.push_back(stretch(self, d, at, std::min(each, size - at)));
  return several(std::move(parts));
}

std::vector<TensorRef> tensor_split_sections(Tensor& self, int64_t sections, int64_t dim) {
  if (self.dim() == 0) fail("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int d = int(wrap_dim(dim, self.dim()));
  if (sections <= 0) fail("number of sections must be larger than 0, got ", sections);
  const int64_t size = self.dims_[d], least = size / sections, longer = size % sections;
  std::vector<TensorRef> parts = room_for("tensor_split", sections);
  int64_t at = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = least + (i < longer);
    parts.push_back(stretch(self, d, at, length));
    at += length;
  }
  return parts;
}

std::vector<TensorRef> tensor_split_indices(Tensor& self, IntList indices, int64_t dim) {
  if (self.dim() == 0) fail("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int d = int(wrap_dim(dim, self.dim()));
  const int64_t size = self.dims_[d];
  const auto place = [size](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + size : x, 0, size); };
  std::vector<TensorRef> parts;
  parts.reserve(indices.size() + 1);
  int64_t from = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const int64_t to = i < indices.size() ? place(indices[i]) : size;
    parts.push_back(stretch(self, d, from, std::max<int64_t>(0, to - from)));
    from = to;
  }
  return parts;
}

std::vector<TensorRef> unsafe_chunk(Tensor& self, int64_t chunks, int64_t dim) {
  return unsafe(chunk(self, chunks, dim));
}
std::vector<TensorRef> unsafe_split(Tensor& self, int64_t split_size, int64_t dim) {
  return unsafe(split_Tensor(self, split_size, dim));
}
std::vector<TensorRef> unsafe_split_with_sizes(Tensor& self, IntList split_sizes, int64_t dim) {
  return unsafe(split_with_sizes(self, split_sizes, dim));
}

TensorRef diagonal(Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t d1 = wrap_dim(dim1, self.dim()), d2 = wrap_dim(dim2, self.dim());
  if (d1 == d2) fail("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int n = self.ndim_;
  const int64_t rows = self.dims_[d1], columns = self.dims_[d2], step1 = self.dims_[n + d1], step2 = self.dims_[n + d2];
  const int64_t length =
      std::max<int64_t>(offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns), 0);
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * step2 : -offset * step1;
  Dims sizes, strides;
  for (int d = 0; d < n; ++d) {
    if (d == d1 || d == d2) continue;
    sizes.push(self.dims_[d]);
    strides.push(self.dims_[n + d]);
  }
  sizes.push(length);
  strides.push(step1 + step2);
  return make_view(self, sizes, strides, start);
}

TensorRef unfold(Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int d = int(wrap_dim(dimension, self.dim())), n = self.ndim_;
  const int64_t have = n == 0 ? 1 : self.dims_[d], stride = n == 0 ? 1 : self.dims_[n + d];
  if (size < 0) fail("size is ", size, " but must be >= 0");
  if (size > have) fail("maximum size for tensor at dimension ", d, " is ", have, " but size is ", size);
  if (step <= 0) fail("step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  if (n > 0) {
    sizes[d] = (have - size) / step + 1;
    strides[d] = stepped(stride, step);
  }
  sizes.push(size);
  strides.push(stride);
  return make_view(self, sizes, strides, self.storage_offset());
}

}  // namespace vivace::kernels
