// Membership, counts in boxes, padded coordinates of what is not 0, and hashes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "generated/kernels/index/select.h"
#include "generated/kernels/index/statistics.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/rows.h"
#include "runtime/loop/nest.h"

namespace vivace {
namespace {

void check_member_type(const Tensor& t) {
  if (is_bool(t.dtype()) || is_complex(t.dtype()))
    fail("Unsupported input type encountered for isin(): ", scalar_type_name(t.dtype()));
}

}  // namespace

namespace meta {

TensorRef isin(Tensor& elements, Tensor& test_elements, bool, bool) {
  check_member_type(elements);
  check_member_type(test_elements);
  return empty(elements.sizes(), DType::Bool, elements.device());
}

TensorRef histogram_counts(Tensor& self, TensorList edges, Tensor* weight) {
  if (self.dim() != 2 || self.sizes()[1] != int64_t(edges.size()))
    fail("torch.histogramdd: expected ", edges.size(), " columns of points, but got an input of shape ", self.sizes());
  Dims sizes;
  for (size_t d = 0; d < edges.size(); ++d) {
    const Tensor& e = *edges[d];
    if (e.dim() != 1)
      fail("torch.histogramdd: bins tensor should have one dimension, but got ", e.dim(),
           " dimensions in the bins tensor for dimension ", d);
    if (e.numel() == 0)
      fail(
          "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
          "dimension ",
          d);
    if (e.numel() == 1) fail("torch.histogram(): bins must be > 0, but got 0 for dimension ", d);
    if (e.dtype() != self.dtype())
      fail("torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype ",
           self.dtype(), " and bins for dimension ", d, " with dtype ", e.dtype());
    sizes.push(e.numel() - 1);
  }
  if (weight && weight->numel() != self.sizes()[0])
    fail(
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
        "its innermost dimension, but got input with shape ",
        self.sizes(), " and weight with shape ", weight->sizes());
  if (weight && weight->dtype() != self.dtype())
    fail(
        "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
        "but got input(",
        self.dtype(), "), and weight(", weight->dtype(), ")");
  return empty(sizes, self.dtype(), self.device());
}

TensorRef nonzero_static(Tensor& self, int64_t size, int64_t) {
  if (size < 0) fail("nonzero_static: 'size' must be an non-negative integer");
  return empty({size, self.dim()}, DType::Int64, self.device());
}

TensorRef hash_tensor(Tensor& self, IntList dim, bool keepdim, int64_t mode) {
  if (mode != 0) fail("Unknown hash_tensor mode: ", mode);
  if (is_complex(self.dtype()))
    fail_not_implemented("\"xor_sum_cpu\" not implemented for '", scalar_type_name(self.dtype()), "'");
  if (self.numel() == 0 && dim.empty())
    fail(
        "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
        "the 'dim' argument.");
  const uint64_t reduced = dim_mask(dim, self.dim());
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!(reduced >> d & 1))
      sizes.push(self.dims_[d]);
    else if (self.dims_[d] == 0)
      fail_index("hash_tensor: Expected reduction dim ", d, " to have non-zero size.");
    else if (keepdim)
      sizes.push(1);
  }
  return empty(sizes, DType::UInt64, self.device());
}

}  // namespace meta

namespace kernels {

void isin(Tensor& elements, Tensor& test_elements, bool, bool invert, Tensor& out) {
  ResultType type;
  type.add(elements);
  type.add(test_elements);
  const TensorRef asked = contiguous(*to_dtype(elements, type.dtype())),
                  among = contiguous(*to_dtype(test_elements, type.dtype()));
  const TensorRef result = contiguous(out);
  visit(type.dtype(), [&]<class T>() {
    if constexpr (!is_complex_type<T>) {
      std::vector<Wide<T>> set;
      for (int64_t i = 0; i < among->numel(); ++i) {
        const Wide<T> x = widen<Wide<T>>(among->data<T>()[i]);
        if (!is_nan(x)) set.push_back(x);
      }
      std::sort(set.begin(), set.end());
      for (int64_t i = 0; i < asked->numel(); ++i) {
        const Wide<T> x = widen<Wide<T>>(asked->data<T>()[i]);
        result->data<bool>()[i] = (!is_nan(x) && std::binary_search(set.begin(), set.end(), x)) != invert;
      }
    }
  });
  if (result.get() != &out) copy_into(out, *result);
}

void histogram_counts(Tensor& self, TensorList edges, Tensor* weight, Tensor& out) {
  visit_compute(self.dtype(), "histogramdd", [&]<class T>() {
    constexpr DType kType = std::is_same_v<T, double> ? DType::Float64 : DType::Float32;
    const TensorRef rows = dense_in(&self, kType), weights = dense_in(weight, kType);
    std::vector<TensorRef> lines;
    for (Tensor* e : edges) lines.push_back(dense_in(e, kType));
    const TensorRef counts = empty(out.sizes(), kType);
    fill_into(*counts, 0);
    const int64_t columns = int64_t(edges.size()), n = rows->sizes()[0];
    for (int64_t i = 0; i < n; ++i) {
      int64_t place = 0;
      bool inside = true;
      for (int64_t d = 0; d < columns && inside; ++d) {
        const T* first = lines[size_t(d)]->data<T>();
        const int64_t bins = lines[size_t(d)]->numel() - 1;
        const T x = rows->data<T>()[i * columns + d];
        inside = x >= first[0] && x <= first[bins];
        // The last bin holds its right edge, too.
        const int64_t bin = std::min<int64_t>(std::upper_bound(first, first + bins + 1, x) - first - 1, bins - 1);
        place = place * bins + bin;
      }
      if (inside) counts->data<T>()[place] += weights ? weights->data<T>()[i] : T(1);
    }
    copy_into(out, *counts);
  });
}

void nonzero_static(Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  const TensorRef found = nonzero(self);
  fill_into(out, fill_value);
  const Dims shared{std::min(size, found->sizes()[0]), self.dim()};
  copy_into(*make_view(out, shared, out.strides(), out.storage_offset()),
            *make_view(*found, shared, found->strides(), 0));
}

void hash_tensor(Tensor& self, IntList dim, bool, int64_t, Tensor& out) {
  const bool floats = is_floating(self.dtype());
  const TensorRef wide = to_dtype(self, floats                          ? DType::Float64
                                        : self.dtype() == DType::UInt64 ? DType::UInt64
                                                                        : DType::Int64);
  const uint64_t reduced = dim_mask(dim, self.dim());
  fill_into(out, 0);
  // The result once more, with steps of 0 along what is reduced.
  Dims steps;
  const bool keeps = out.dim() == self.dim();
  for (int64_t d = 0, k = 0; d < self.dim(); ++d) {
    const bool drops = reduced >> d & 1;
    steps.push(drops ? 0 : out.strides()[size_t(k)]);
    k += keeps || !drops;
  }
  const TensorRef target = make_view(out, self.sizes(), steps, out.storage_offset());
  make_nest<2>(self.sizes(), {target.get(), wide.get()}).run([](char** p, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<uint64_t*>(p[0] + i * s[0]) ^= *reinterpret_cast<const uint64_t*>(p[1] + i * s[1]);
  });
}

}  // namespace kernels
}  // namespace vivace
