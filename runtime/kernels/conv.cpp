// Convolution as products of matrices over unrolled windows (im2col), in chunks that stay in the second cache. The map
// is bilinear in input and weight; its two adjoints are operators too, so that derivatives of all orders are made of
// the three.
#include <cstring>
#include <memory>

#include "generated/kernels.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/rows.h"
#include "runtime/kernels/window.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using kernels::Matrix;
using kernels::Window;

namespace {

/// Elements of an unrolled chunk.
constexpr int64_t kChunk = 96 * 1024;

/// Sizes of one convolution and how its output is cut into chunks of whole rows.
struct Plan : Window {
  int64_t groups, in_channels, out_channels;  // channels per group
  int64_t depth;                              // rows of the unrolled matrix
  int64_t positions, chunk;                   // of the output; per chunk
  bool is_pointwise;                          // the input is its own unrolled matrix

  Plan(IntList input, IntList weight, IntList output, IntList stride, IntList padding, IntList dilation,
       int64_t n_groups)
      : Window(input, weight.subspan(2), stride, padding, dilation) {
    set_out(output);
    groups = n_groups;
    in_channels = channels / groups;
    out_channels = weight[0] / groups;
    depth = in_channels * kernel_size();
    positions = out_size();
    const int64_t lines = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, depth * out[2]));
    chunk = std::max<int64_t>(1, std::min(positions, lines * out[2]));
    is_pointwise = kernel_size() == 1;
    for (int d = 0; d < 3; ++d) is_pointwise = is_pointwise && stride_is_one(d);
  }
  bool stride_is_one(int d) const { return this->stride[d] == 1 && this->padding[d] == 0; }

  /// f(row of the unrolled matrix, line of output, first input element of the line or null where all of it is padding,
  /// offset of the line in the chunk) for positions [from, from + n) of one image.
  template <class T, class F>
  void each_line(T* image, int64_t from, int64_t n, F&& f) const {
    int64_t row = 0;
    for (int64_t c = 0; c < in_channels; ++c)
      for (int64_t i = 0; i < kernel[0]; ++i)
        for (int64_t j = 0; j < kernel[1]; ++j)
          for (int64_t k = 0; k < kernel[2]; ++k, ++row)
            for (int64_t at = 0; at < n; at += out[2]) {
              const int64_t line = (from + at) / out[2];
              const int64_t z = line / out[1] * stride[0] - padding[0] + i * dilation[0];
              const int64_t y = line % out[1] * stride[1] - padding[1] + j * dilation[1];
              const bool inside = z >= 0 && z < in[0] && y >= 0 && y < in[1];
              f(row, inside ? image + ((c * in[0] + z) * in[1] + y) * in[2] : nullptr, k * dilation[2] - padding[2],
                at);
            }
  }
  /// Output columns [first, last) whose input column `shift + x * stride` exists.
  std::pair<int64_t, int64_t> valid(int64_t shift) const {
    const int64_t s = stride[2];
    const int64_t first = shift >= 0 ? 0 : std::min(out[2], (-shift + s - 1) / s);
    const int64_t last = in[2] > shift ? std::min(out[2], (in[2] - shift + s - 1) / s) : 0;
    return {first, std::max(first, last)};
  }
};

template <class T>
void unroll(const Plan& p, const T* image, T* cols, int64_t from, int64_t n) {
  p.each_line(image, from, n, [&](int64_t row, const T* line, int64_t shift, int64_t at) {
    T* to = cols + row * n + at;
    const auto [first, last] = line ? p.valid(shift) : std::pair<int64_t, int64_t>(0, 0);
    for (int64_t x = 0; x < first; ++x) to[x] = T{};
    if (p.stride[2] == 1) {
      if (last > first) std::memcpy(to + first, line + shift + first, size_t(last - first) * sizeof(T));
    } else {
      for (int64_t x = first; x < last; ++x) to[x] = line[shift + x * p.stride[2]];
    }
    for (int64_t x = last; x < p.out[2]; ++x) to[x] = T{};
  });
}

/// Adds the unrolled matrix back into the image.
template <class T>
void roll(const Plan& p, const T* cols, T* image, int64_t from, int64_t n) {
  p.each_line(image, from, n, [&](int64_t row, T* line, int64_t shift, int64_t at) {
    if (!line) return;
    const T* source = cols + row * n + at;
    const auto [first, last] = p.valid(shift);
    for (int64_t x = first; x < last; ++x) {
      T& to = line[shift + x * p.stride[2]];
      to = kernels::add(to, source[x]);
    }
  });
}

template <class T>
Matrix dense_matrix(const T* data, int64_t rows, int64_t cols, int64_t row_stride) {
  return {const_cast<char*>(reinterpret_cast<const char*>(data)), rows, cols, row_stride, 1};
}

/// Runs f over images, on several threads where the work is worth it.
template <class F>
void over_images(const Plan& p, F&& f) {
  const int64_t work = p.depth * p.out_channels * p.groups * p.positions;
  if (work > 1 << 20) blas::table();  // opened here: it needs the GIL
  blas::table();                      // loading needs the GIL, which the pool's threads do not have
  parallel_for(0, p.batches, std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(1, work)), f);
}

/// Calls f<T>() with the type of computation.
template <class F>
void visit_conv(DType t, F&& f) {
  visit(compute_of(t), [&]<class T>() {
    if constexpr (!kernels::is_half_type<T> && !std::is_same_v<T, bool>)
      f.template operator()<T>();
    else
      fail_not_implemented("\"convolution\" not implemented for '", t, "'");
  });
}

Dims conv_sizes(const Tensor& input, const Tensor& weight, IntList stride, IntList padding, IntList dilation) {
  Dims sizes{input.sizes()[0], weight.sizes()[0]};
  for (int64_t d = 2; d < input.dim(); ++d)
    sizes.push(kernels::window_count(input.sizes()[d], weight.sizes()[d], stride[d - 2], padding[d - 2],
                                     dilation[d - 2], false));
  return sizes;
}

}  // namespace

namespace meta {

TensorRef conv(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
               int64_t groups) {
  const IntList x = input.sizes(), w = weight.sizes();
  if (groups <= 0) fail("conv: non-positive groups is not supported");
  for (size_t d = 0; d < stride.size(); ++d) {
    if (stride[d] <= 0) fail("conv: non-positive stride is not supported");
    if (padding[d] < 0) fail("conv: negative padding is not supported");
    if (dilation[d] <= 0) fail("conv: dilation should be greater than zero");
  }
  if (input.dtype() != weight.dtype())
    fail("conv: Input type (", input.dtype(), ") and weight type (", weight.dtype(), ") should be the same");
  if (bias && bias->dtype() != input.dtype())
    fail("conv: Input type (", input.dtype(), ") and bias type (", bias->dtype(), ") should be the same");
  if (w[0] < groups || w[0] % groups)
    fail("conv: Given groups=", groups, ", expected weight to be divisible by ", groups,
         " at dimension 0, but got weight of size ", w, " instead");
  if (x[1] != w[1] * groups)
    fail("conv: Given groups=", groups, ", weight of size ", w, ", expected input", x, " to have ", w[1] * groups,
         " channels, but got ", x[1], " channels instead");
  if (bias && (bias->dim() != 1 || bias->sizes()[0] != w[0]))
    fail("conv: Given weight of size ", w, ", expected bias to be 1-dimensional with ", w[0],
         " elements, but got bias of size ", bias->sizes(), " instead");
  for (size_t d = 2; d < x.size(); ++d)
    if (x[d] + 2 * padding[d - 2] < dilation[d - 2] * (w[d] - 1) + 1)
      fail("conv: Calculated padded input size per channel: ", x[d] + 2 * padding[d - 2], " at dim ", int64_t(d),
           ". Kernel size: ", dilation[d - 2] * (w[d] - 1) + 1,
           ". Kernel size can't be greater than actual input size");
  return empty(conv_sizes(input, weight, stride, padding, dilation), input.dtype(), input.device());
}

TensorRef conv_input_grad(Tensor& grads, Tensor&, IntList input_sizes, IntList, IntList, IntList, int64_t) {
  return empty(input_sizes, grads.dtype(), grads.device());
}
TensorRef conv_weight_grad(Tensor& grads, Tensor&, IntList weight_sizes, IntList, IntList, IntList, int64_t) {
  return empty(weight_sizes, grads.dtype(), grads.device());
}

}  // namespace meta

namespace kernels {

void conv(Tensor& input, Tensor& weight, Tensor* bias, IntList stride, IntList padding, IntList dilation,
          int64_t groups, Tensor& out) {
  if (out.numel() == 0) return;
  const Plan p(input.sizes(), weight.sizes(), out.sizes(), stride, padding, dilation, groups);
  const DType compute = compute_of(input.dtype());
  TensorRef x = dense_in(&input, compute), w = dense_in(&weight, compute), b = dense_in(bias, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_conv(input.dtype(), [&]<class T>() {
    const T *in = x->data<T>(), *kernel = w->data<T>(), *shift = data_or_null<T>(b);
    T* result = buffer.rows().data<T>();
    over_images(p, [&](int64_t begin, int64_t end) {
      std::unique_ptr<T[]> cols(p.is_pointwise ? nullptr : new T[size_t(p.depth * p.chunk)]);
      for (int64_t i = begin * p.groups; i < end * p.groups; ++i) {
        const int64_t g = i % p.groups;
        const T* image = in + i * p.in_channels * p.in_size();
        T* y = result + i * p.out_channels * p.positions;
        if (shift)
          for (int64_t o = 0; o < p.out_channels; ++o)
            std::fill_n(y + o * p.positions, p.positions, shift[g * p.out_channels + o]);
        const Matrix a = dense_matrix(kernel + g * p.out_channels * p.depth, p.out_channels, p.depth, p.depth);
        for (int64_t from = 0; from < p.positions; from += p.chunk) {
          const int64_t n = std::min(p.chunk, p.positions - from);
          if (!p.is_pointwise) unroll(p, image, cols.get(), from, n);
          const Matrix m = p.is_pointwise ? dense_matrix(image + from, p.depth, n, p.positions)
                                          : dense_matrix(cols.get(), p.depth, n, n);
          gemm(compute, a, m, dense_matrix(y + from, p.out_channels, n, p.positions), Scalar(1), Scalar(shift ? 1 : 0));
        }
      }
    });
  });
  buffer.finish();
}

void conv_input_grad(Tensor& grads, Tensor& weight, IntList input_sizes, IntList stride, IntList padding,
                     IntList dilation, int64_t groups, Tensor& out) {
  const DType compute = compute_of(out.dtype());
  RowBuffer buffer(out, out.dim(), compute);
  fill_into(buffer.rows(), Scalar(0));
  if (out.numel() && grads.numel()) {
    const Plan p(input_sizes, weight.sizes(), grads.sizes(), stride, padding, dilation, groups);
    TensorRef dy = dense_in(&grads, compute), w = dense_in(&weight, compute);
    visit_conv(out.dtype(), [&]<class T>() {
      T* result = buffer.rows().data<T>();
      over_images(p, [&](int64_t begin, int64_t end) {
        std::unique_ptr<T[]> cols(p.is_pointwise ? nullptr : new T[size_t(p.depth * p.chunk)]);
        for (int64_t i = begin * p.groups; i < end * p.groups; ++i) {
          const int64_t g = i % p.groups;
          T* image = result + i * p.in_channels * p.in_size();
          const T* y = dy->data<T>() + i * p.out_channels * p.positions;
          const Matrix a =
              dense_matrix(w->data<T>() + g * p.out_channels * p.depth, p.out_channels, p.depth, p.depth).transposed();
          for (int64_t from = 0; from < p.positions; from += p.chunk) {
            const int64_t n = std::min(p.chunk, p.positions - from);
            const Matrix m = p.is_pointwise ? dense_matrix(image + from, p.depth, n, p.positions)
                                            : dense_matrix(cols.get(), p.depth, n, n);
            gemm(compute, a, dense_matrix(y + from, p.out_channels, n, p.positions), m);
            if (!p.is_pointwise) roll(p, cols.get(), image, from, n);
          }
        }
      });
    });
  }
  buffer.finish();
}

void conv_weight_grad(Tensor& grads, Tensor& input, IntList weight_sizes, IntList stride, IntList padding,
                      IntList dilation, int64_t groups, Tensor& out) {
  const DType compute = compute_of(out.dtype());
  RowBuffer buffer(out, out.dim(), compute);
  fill_into(buffer.rows(), Scalar(0));
  if (out.numel() && grads.numel() && input.numel()) {
    const Plan p(input.sizes(), weight_sizes, grads.sizes(), stride, padding, dilation, groups);
    TensorRef dy = dense_in(&grads, compute), x = dense_in(&input, compute);
    visit_conv(out.dtype(), [&]<class T>() {
      std::unique_ptr<T[]> cols(p.is_pointwise ? nullptr : new T[size_t(p.depth * p.chunk)]);
      for (int64_t i = 0; i < p.batches * p.groups; ++i) {
        const T* image = x->data<T>() + i * p.in_channels * p.in_size();
        const T* y = dy->data<T>() + i * p.out_channels * p.positions;
        T* dw = buffer.rows().data<T>() + i % p.groups * p.out_channels * p.depth;
        for (int64_t from = 0; from < p.positions; from += p.chunk) {
          const int64_t n = std::min(p.chunk, p.positions - from);
          if (!p.is_pointwise) unroll(p, image, cols.get(), from, n);
          const Matrix m = p.is_pointwise ? dense_matrix(image + from, p.depth, n, p.positions)
                                          : dense_matrix(cols.get(), p.depth, n, n);
          gemm(compute, dense_matrix(y + from, p.out_channels, n, p.positions), m.transposed(),
               dense_matrix(dw, p.out_channels, p.depth, p.depth), Scalar(1), Scalar(1));
        }
      }
    });
  }
  buffer.finish();
}

}  // namespace kernels
}  // namespace vivace
