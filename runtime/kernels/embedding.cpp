// embedding: rows of a table by index, and the sum of gradients back into the table.
#include <cmath>
#include <cstring>

#include "generated/kernels/nn/embedding.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/embedding.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/rows.h"

namespace vivace {

namespace kernels {

int64_t wrap_padding_idx(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  if (*padding_idx < -rows || *padding_idx >= rows) fail("embedding: Padding_idx must be within num_embeddings");
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

/// The indices as contiguous int64, each checked against the table.
static TensorRef checked_indices(Tensor& indices, int64_t rows) {
  TensorRef dense = dense_in(&indices, DType::Int64);
  const int64_t* p = dense->data<int64_t>();
  for (int64_t i = 0; i < dense->numel(); ++i)
    if (p[i] < 0 || p[i] >= rows) [[unlikely]]
      fail_index("index out of range in self: embedding has ", rows, " rows, but an index is ", p[i]);
  return dense;
}

/// Scales the rows that are looked up to norms of at most max_norm.
static void limit_norms(Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const int64_t n = weight.sizes()[1], rs = weight.strides()[0], cs = weight.strides()[1];
  visit_floating(weight.dtype(), "embedding_renorm_", [&]<class T>() {
    for (int64_t i = 0; i < indices.numel(); ++i) {
      T* row = weight.data<T>() + indices.data<int64_t>()[i] * rs;
      double norm = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double x = std::fabs(double(widen<Wide<T>>(row[j * cs])));
        norm = std::isinf(norm_type) ? std::max(norm, x) : norm + (norm_type == 2 ? x * x : std::pow(x, norm_type));
      }
      if (!std::isinf(norm_type)) norm = norm_type == 2 ? std::sqrt(norm) : std::pow(norm, 1 / norm_type);
      if (norm <= max_norm) continue;
      const double scale = max_norm / (norm + 1e-7);
      for (int64_t j = 0; j < n; ++j) row[j * cs] = narrow<T>(double(widen<Wide<T>>(row[j * cs])) * scale);
    }
  });
  bump_version(weight);
}

}  // namespace kernels

namespace meta {

TensorRef embedding(Tensor& input, Tensor& weight, std::optional<int64_t> padding_idx, std::optional<double>, double,
                    bool, bool sparse) {
  if (weight.dim() != 2) fail("embedding: 'weight' must be 2-D, but got shape ", weight.sizes());
  if (input.dtype() != DType::Int64 && input.dtype() != DType::Int32)
    fail(
        "embedding: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
        "but got ",
        input.dtype(), " instead");
  if (sparse && weight.requires_grad()) fail_not_implemented("embedding: sparse gradients are not supported");
  kernels::wrap_padding_idx(padding_idx, weight.sizes()[0]);
  Dims sizes(input.sizes());
  sizes.push(weight.sizes()[1]);
  return empty(sizes, weight.dtype(), weight.device());
}

}  // namespace meta

namespace kernels {

void embedding(Tensor& input, Tensor& weight, std::optional<int64_t>, std::optional<double> max_norm, double norm_type,
               bool, bool, Tensor& out) {
  TensorRef indices = checked_indices(input, weight.sizes()[0]);
  if (max_norm) limit_norms(weight, *indices, *max_norm, norm_type);
  TensorRef table = weight.strides()[1] == 1 || weight.sizes()[1] == 1 ? TensorRef::share(&weight) : contiguous(weight);
  const int64_t* at = indices->data<int64_t>();
  const size_t row = size_t(weight.sizes()[1]) * weight.item_size(),
               stride = size_t(table->strides()[0]) * weight.item_size();
  for (int64_t i = 0; i < indices->numel(); ++i)
    std::memcpy(out.raw() + size_t(i) * row, table->raw() + size_t(at[i]) * stride, row);
}

TensorRef embedding_grad(Tensor& g, Tensor& indices, IntList sizes, int64_t padding_idx, bool scale_grad_by_freq) {
  const DType compute = compute_of(g.dtype());
  TensorRef out = empty(sizes, compute), at = checked_indices(indices, sizes[0]), grads = dense_in(&g, compute);
  fill_into(*out, Scalar(0));
  const int64_t n = sizes[1];
  TensorRef counts;
  if (scale_grad_by_freq) {
    fill_into(*(counts = empty({sizes[0]}, DType::Int64)), Scalar(0));
    for (int64_t i = 0; i < at->numel(); ++i) ++counts->data<int64_t>()[at->data<int64_t>()[i]];
  }
  visit_compute(compute, "embedding", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    for (int64_t i = 0; i < at->numel(); ++i) {
      const int64_t row = at->data<int64_t>()[i];
      if (row == padding_idx) continue;
      T* dst = out->data<T>() + row * n;
      const T* src = grads->data<T>() + i * n;
      if (!counts) {
        loops.accumulate(src, dst, n);
        continue;
      }
      const T scale = T(1) / T(counts->data<int64_t>()[row]);
      for (int64_t j = 0; j < n; ++j) dst[j] += src[j] * scale;
    }
  });
  return compute == g.dtype() ? out : to_dtype(*out, g.dtype());
}

}  // namespace kernels
}  // namespace vivace
