// Pools with one to three spatial dims and pad: arguments are completed, a missing batch dim is added and taken away
// again.
#include "generated/kernels/nn/pool.h"
#include "generated/kernels/nn/pad.h"
#include "generated/ops/nn/pad.h"
#include "generated/ops/nn/pool.h"
#include "generated/ops/view/dims.h"

namespace vivace::composite {
namespace {

/// A list with one number per spatial dim, from one number or from none (then `otherwise`).
Dims per_dim(const char* op, const char* name, std::optional<IntList> list, IntList otherwise, size_t n) {
  const IntList given = !list || list->empty() ? otherwise : *list;
  if (given.size() != 1 && given.size() != n)
    fail(op, ": ", name, " must either be a single int, or a tuple of ", int64_t(n), " ints, but got ", given);
  Dims dims;
  for (size_t d = 0; d < n; ++d) dims.push(given[given.size() == 1 ? 0 : d]);
  return dims;
}

TensorRef batched(const char* op, Tensor& input, int64_t n) {
  if (input.dim() != n + 1 && input.dim() != n + 2)
    fail(op, ": Expected ", n + 1, "D or ", n + 2, "D (batch mode) tensor, but got input of size: ", input.sizes());
  for (int64_t d = input.dim() - n - 1; d < input.dim(); ++d)
    if (input.sizes()[d] == 0)
      fail(op, ": Expected input with non-zero sizes in all but the batch dim, but got: ", input.sizes());
  return input.dim() == n + 2 ? TensorRef::share(&input) : ops::unsqueeze(input, 0);
}
TensorRef unbatched(TensorRef out, const Tensor& input, int64_t n) {
  return input.dim() == n + 2 ? out : ops::squeeze_dim(*out, 0);
}

using Pair = std::tuple<TensorRef, TensorRef>;
Pair unbatched(Pair out, const Tensor& input, int64_t n) {
  return {unbatched(std::move(std::get<0>(out)), input, n), unbatched(std::move(std::get<1>(out)), input, n)};
}

Pair max_pool(const char* op, Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
              IntList dilation, bool ceil_mode, size_t n) {
  TensorRef x = batched(op, input, int64_t(n));
  const Dims k = per_dim(op, "kernel_size", kernel_size, {}, n), s = per_dim(op, "stride", stride, k, n),
             p = per_dim(op, "padding", padding, {}, n), d = per_dim(op, "dilation", dilation, {}, n);
  return unbatched(ops::max_pool(*x, k, s, p, d, ceil_mode), input, int64_t(n));
}
TensorRef avg_pool(const char* op, Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                   bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor, size_t n) {
  TensorRef x = batched(op, input, int64_t(n));
  const Dims k = per_dim(op, "kernel_size", kernel_size, {}, n), s = per_dim(op, "stride", stride, k, n),
             p = per_dim(op, "padding", padding, {}, n);
  return unbatched(ops::avg_pool(*x, k, s, p, ceil_mode, count_include_pad, divisor), input, int64_t(n));
}

}  // namespace

TensorRef max_pool1d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                     IntList dilation, bool ceil_mode) {
  return std::get<0>(max_pool("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode, 1));
}
Pair max_pool1d_with_indices(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                             IntList dilation, bool ceil_mode) {
  return max_pool("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode, 1);
}
TensorRef adaptive_avg_pool1d(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_avg_pool1d", input, 1);
  return unbatched(ops::adaptive_avg_pool(*x, per_dim("adaptive_avg_pool1d", "output_size", output_size, {}, 1)), input,
                   1);
}
Pair adaptive_max_pool1d_with_indices(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_max_pool1d", input, 1);
  return unbatched(ops::adaptive_max_pool(*x, per_dim("adaptive_max_pool1d", "output_size", output_size, {}, 1)), input,
                   1);
}

TensorRef max_pool2d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                     IntList dilation, bool ceil_mode) {
  return std::get<0>(max_pool("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode, 2));
}
Pair max_pool2d_with_indices(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                             IntList dilation, bool ceil_mode) {
  return max_pool("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode, 2);
}
TensorRef adaptive_avg_pool2d(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_avg_pool2d", input, 2);
  return unbatched(ops::adaptive_avg_pool(*x, per_dim("adaptive_avg_pool2d", "output_size", output_size, {}, 2)), input,
                   2);
}
Pair adaptive_max_pool2d_with_indices(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_max_pool2d", input, 2);
  return unbatched(ops::adaptive_max_pool(*x, per_dim("adaptive_max_pool2d", "output_size", output_size, {}, 2)), input,
                   2);
}

TensorRef max_pool3d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                     IntList dilation, bool ceil_mode) {
  return std::get<0>(max_pool("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode, 3));
}
Pair max_pool3d_with_indices(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding,
                             IntList dilation, bool ceil_mode) {
  return max_pool("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode, 3);
}
TensorRef adaptive_avg_pool3d(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_avg_pool3d", input, 3);
  return unbatched(ops::adaptive_avg_pool(*x, per_dim("adaptive_avg_pool3d", "output_size", output_size, {}, 3)), input,
                   3);
}
Pair adaptive_max_pool3d_with_indices(Tensor& input, IntList output_size) {
  TensorRef x = batched("adaptive_max_pool3d", input, 3);
  return unbatched(ops::adaptive_max_pool(*x, per_dim("adaptive_max_pool3d", "output_size", output_size, {}, 3)), input,
                   3);
}

TensorRef avg_pool1d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding, bool ceil_mode,
                     bool count_include_pad) {
  return avg_pool("avg_pool1d", input, kernel_size, stride, padding, ceil_mode, count_include_pad, {}, 1);
}
TensorRef avg_pool2d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override) {
  return avg_pool("avg_pool2d", input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2);
}
TensorRef avg_pool3d(Tensor& input, IntList kernel_size, std::optional<IntList> stride, IntList padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override) {
  return avg_pool("avg_pool3d", input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3);
}

TensorRef pad(Tensor& input, IntList pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return ops::constant_pad_nd(input, pad, Scalar(value.value_or(0)));
  if (value && *value != 0) fail_value("pad: Padding mode \"", mode, "\" doesn't take in value argument");
  const int64_t n = int64_t(pad.size()) / 2;
  if (pad.size() % 2 || n < 1 || n > 3 || (input.dim() != n + 1 && input.dim() != n + 2))
    fail_not_implemented(
        "pad: Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now, but got input of shape ",
        input.sizes(), " and pad ", pad);
  return mode == "circular" ? ops::pad_edges(input, pad, mode) : ops::pad_mirrored(input, pad, mode);
}

}  // namespace vivace::composite
