// The inverse of max pooling, and max pooling over windows at random places.
#include <vector>

#include "generated/kernels/nn/sampling.h"
#include "runtime/kernels/arith.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

/// Where the windows of one dim start: steps of input / output that are rounded as the random number says.
std::vector<int64_t> starts(double random, int64_t in, int64_t out, int64_t kernel) {
  std::vector<int64_t> result(static_cast<size_t>(out));
  if (out > 1) {
    const double step = double(in - kernel) / double(out - 1);
    for (int64_t i = 0; i < out - 1; ++i)
      result[size_t(i)] = int64_t((double(i) + random) * step) - int64_t(random * step);
  }
  if (out > 0) result[size_t(out - 1)] = in - kernel;
  return result;
}

}  // namespace

namespace meta {

TensorRef max_unpool(Tensor& input, Tensor& indices, IntList output_size) {
  if (indices.dtype() != DType::Int64)
    fail("elements in indices should be type int64 but got: ", scalar_type_name(indices.dtype()));
  if (indices.numel() != input.numel())
    fail("Expected shape of indices to be same as that of the input tensor (", input.sizes(),
         ") but got indices tensor with shape: ", indices.sizes());
  const int64_t images = output_size.size() < 3 ? 0 : output_size[0] * output_size[1];
  if (output_size.size() < 3 || (input.numel() > 0 && (images <= 0 || input.numel() % images != 0)))
    fail("max_unpool: output of size ", output_size, " has no images for input of size ", input.sizes());
  return empty(output_size, input.dtype(), input.device());
}

std::tuple<TensorRef, TensorRef> fractional_max_pool(Tensor& input, IntList kernel_size, IntList output_size,
                                                     Tensor& random_samples) {
  const size_t dims = kernel_size.size();
  const char* op = dims == 2 ? "fractional_max_pool2d" : "fractional_max_pool3d";
  if (random_samples.dim() != 3 || random_samples.sizes()[0] < input.sizes()[0] ||
      random_samples.sizes()[1] < input.sizes()[1] || random_samples.sizes()[2] != int64_t(dims))
    fail(op, ": Expect _random_samples to have 3 dimensions of sizes ",
         Dims{input.sizes()[0], input.sizes()[1], int64_t(dims)}, ", got ", random_samples.sizes());
  if (random_samples.dtype() != input.dtype()) fail(op, ": Expect _random_samples to have the same dtype as input");
  Dims sizes(input.sizes().first(2));
  for (size_t d = 0; d < dims; ++d) {
    const int64_t have = input.sizes()[d + 2];
    if (have == 0) fail(op, ": Expected input to have non-zero size for non-batch dimensions, but got ", input.sizes());
    if (kernel_size[d] < 1 || output_size[d] < 1 || output_size[d] + kernel_size[d] - 1 > have)
      fail(op, "(): pool size (", kernel_size[d], ") too large relative to input size (", have, ")");
    sizes.push(output_size[d]);
  }
  return {empty(sizes, input.dtype(), input.device()), empty(sizes, DType::Int64, input.device())};
}

}  // namespace meta

namespace kernels {

void max_unpool(Tensor& input, Tensor& indices, IntList output_size, Tensor& out) {
  const TensorRef from = contiguous(input), at = contiguous(indices), to = contiguous(out);
  fill_into(*to, 0);
  const int64_t images = output_size[0] * output_size[1];
  if (input.numel() > 0) {
    const int64_t each = input.numel() / images, room = to->numel() / images;
    for (int64_t i = 0; i < input.numel(); ++i)
      if (const int64_t k = at->data<int64_t>()[i]; k < 0 || k >= room)
        fail("Found an invalid max index: ", k, " (output volumes are of size ", output_size.subspan(2), ")");
    visit_bits(input.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < input.numel(); ++i)
        to->data<T>()[i / each * room + at->data<int64_t>()[i]] = from->data<T>()[i];
    });
  }
  if (to.get() != &out) copy_into(out, *to);
}

void fractional_max_pool(Tensor& input, IntList kernel_size, IntList output_size, Tensor& random_samples, Tensor& out,
                         Tensor& indices) {
  const size_t dims = kernel_size.size();
  int64_t in[3] = {1, 1, 1}, window[3] = {1, 1, 1}, places[3] = {1, 1, 1};
  for (size_t d = 0; d < dims; ++d) {
    in[3 - dims + d] = input.sizes()[d + 2];
    window[3 - dims + d] = kernel_size[d];
    places[3 - dims + d] = output_size[d];
  }
  const TensorRef images = contiguous(input), random = contiguous(*vivace::to_dtype(random_samples, DType::Float64));
  const TensorRef result = vivace::empty(out.sizes(), out.dtype()), found = vivace::empty(out.sizes(), DType::Int64);
  const int64_t channels = input.sizes()[1], random_channels = random_samples.sizes()[1];
  const int64_t pixels = in[0] * in[1] * in[2], room = places[0] * places[1] * places[2];
  visit_floating(input.dtype(), "fractional_max_pool", [&]<class T>() {
    using W = Wide<T>;
    parallel_for(0, input.sizes()[0] * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) {
        const double* r =
            random->data<double>() + (image / channels * random_channels + image % channels) * int64_t(dims);
        std::vector<int64_t> first[3] = {{0}, {0}, {0}};
        for (int d = 0; d < int(dims); ++d) {
          const int axis = 3 - int(dims) + d;
          // In two dims the first number is for the width; in three they come in the order of the dims.
          first[axis] = starts(dims == 2 ? r[1 - d] : r[d], in[axis], places[axis], window[axis]);
        }
        const T* from = images->data<T>() + image * pixels;
        int64_t o = image * room;
        for (int64_t z0 : first[0])
          for (int64_t y0 : first[1])
            for (int64_t x0 : first[2]) {
              int64_t best = (z0 * in[1] + y0) * in[2] + x0;
              for (int64_t z = z0; z < z0 + window[0]; ++z)
                for (int64_t y = y0; y < y0 + window[1]; ++y)
                  for (int64_t x = x0; x < x0 + window[2]; ++x) {
                    const int64_t at = (z * in[1] + y) * in[2] + x;
                    const W value = widen<W>(from[at]);
                    if (value > widen<W>(from[best]) || is_nan(value)) best = at;
                  }
              result->data<T>()[o] = from[best];
              found->data<int64_t>()[o++] = best;
            }
      }
    });
  });
  copy_into(out, *result);
  copy_into(indices, *found);
}

}  // namespace kernels
}  // namespace vivace
