// Advanced indexing: index and index_put_ with tensors between the brackets. Index tensors become one list of byte offsets into
// self, checked once; the dims that are not indexed are a nest of runs.
#include <cstring>

#include "generated/kernels.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/gather.h"
#include "runtime/loop/nest.h"

namespace vivace::kernels {
namespace {

struct Selection {
  TensorRef offsets;           // int64, contiguous, of the indices' broadcast shape: bytes into self
  Dims before, indexed, after; // sizes of the result
  Nest<2> outer, inner;        // strides of the result and of self over `before` and over `after`
};

/// Replaces a mask by the coordinates of its true elements, one index tensor for each of its dims.
void add_mask(const Tensor& self, const Tensor& mask, int dim, std::vector<TensorRef>& indices) {
  for (int d = 0; d < mask.ndim_; ++d) {
    if (dim + d >= self.ndim_ || mask.dims_[d] != self.dims_[dim + d])
      fail_index("The shape of the mask ", mask.sizes(), " at index ", d, " does not match the shape of the indexed tensor ",
                 self.sizes(), " at index ", dim + d);
  }
  const TensorRef dense = contiguous(mask);
  const auto* set = dense->data<uint8_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < dense->numel(); ++i) n += set[i] != 0;
  std::vector<int64_t*> to;
  for (int d = 0; d < mask.ndim_; ++d) {
    indices.push_back(empty({n}, DType::Int64));
    to.push_back(indices.back()->data<int64_t>());
  }
  if (mask.ndim_ == 0) {  // selects all or nothing along a dim of size 1 that the caller has put in
    indices.push_back(empty({n}, DType::Int64));
    fill_into(*indices.back(), 0);
    return;
  }
  if (mask.ndim_ == 1) {
    for (int64_t i = 0, k = 0; k < n; ++i)
      if (set[i]) to[0][k++] = i;
    return;
  }
  int64_t at[kMaxDims] = {};
  for (int64_t i = 0, k = 0; k < n; ++i) {
    if (set[i]) {
      for (int d = 0; d < mask.ndim_; ++d) to[d][k] = at[d];
      ++k;
    }
    for (int d = mask.ndim_ - 1; d >= 0 && ++at[d] == mask.dims_[d]; --d) at[d] = 0;
  }
}

/// `self` is an alias whose layout may gain dims of size 1 for 0-dim masks.
void select(Tensor& self, TensorList given, Selection& s) {
  std::vector<TensorRef> indices;  // null: the whole dim
  for (Tensor* index : given) {
    const int dim = int(indices.size());
    if (!index) {
      indices.emplace_back();
    } else if (index->dtype() == DType::Bool || index->dtype() == DType::UInt8) {
      if (index->dim() == 0) {
        Dims sizes, strides;
        for (int d = 0; d <= self.ndim_; ++d) {
          if (d == dim) sizes.push(1), strides.push(0);
          if (d < self.ndim_) sizes.push(self.dims_[d]), strides.push(self.dims_[self.ndim_ + d]);
        }
        set_layout(self, sizes, strides, self.storage_offset());
      }
      add_mask(self, *index, dim, indices);
    } else {
      if (index->dtype() != DType::Int64 && index->dtype() != DType::Int32)
        fail_index("tensors used as indices must be long, int, byte or bool tensors");
      indices.push_back(to_dtype(*index, DType::Int64));
    }
  }
  if (int(indices.size()) > self.ndim_)
    fail_index("too many indices for tensor of dimension ", self.dim());
  indices.resize(self.ndim_);
  int first = -1, last = -1, count = 0;
  Dims shape;
  for (int d = 0; d < self.ndim_; ++d) {
    if (!indices[d]) continue;
    if (first < 0) {
      first = d;
      shape = Dims(indices[d]->sizes());
    } else {
      bool fits = true;
      const IntList other = indices[d]->sizes();
      for (int k = 1; k <= std::min<int>(shape.n, int(other.size())); ++k) {
        const int64_t a = shape[shape.n - k], b = other[other.size() - k];
        fits &= a == b || a == 1 || b == 1;
      }
      if (!fits) fail_index("shape mismatch: indexing tensors could not be broadcast together with shapes ", IntList(shape), ", ", other);
      shape = broadcast_sizes(shape, other);
    }
    last = d;
    ++count;
  }
  if (first < 0) fail("index: at least one index must be a tensor");
  const bool adjacent = last - first + 1 == count;
  s.indexed = shape;
  s.offsets = empty(shape, DType::Int64);
  int64_t* to = s.offsets->data<int64_t>();
  const int64_t n = s.offsets->numel(), size = int64_t(self.item_size());
  bool started = false;
  for (int d = first; d <= last; ++d) {
    if (!indices[d]) continue;
    const int64_t limit = self.dims_[d], step = self.dims_[self.ndim_ + d] * size;
    const Nest<2> nest = make_nest<2>(shape, {s.offsets.get(), indices[d].get()});
    nest.run([&](char** p, int64_t m, const int64_t* stride) {
      for (int64_t i = 0; i < m; ++i) {
        const int64_t index = *reinterpret_cast<const int64_t*>(p[1] + i * stride[1]);
        const int64_t at = index < 0 ? index + limit : index;
        if (uint64_t(at) >= uint64_t(limit)) [[unlikely]]
          fail_index("index ", index, " is out of bounds for dimension ", d, " with size ", limit);
        int64_t& offset = *reinterpret_cast<int64_t*>(p[0] + i * stride[0]);
        offset = started ? offset + at * step : at * step;
      }
    });
    started = true;
  }
  (void)to;
  (void)n;
  const int result_at = adjacent ? first : 0;
  for (int d = 0; d < self.ndim_; ++d) {
    if (indices[d]) continue;
    (adjacent && d < result_at ? s.before : s.after).push(self.dims_[d]);
  }
}

/// The nests over the dims that are not indexed, for a contiguous tensor `with` of the result's shape.
void make_nests(Selection& s, const Tensor& self, TensorList given_mask, char* with) {
  (void)given_mask;
  (void)self;
  (void)with;
}

}  // namespace
}  // namespace vivace::kernels
