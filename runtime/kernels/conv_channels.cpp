// See conv_channels.h.
#include "runtime/kernels/conv_channels.h"

#include <vector>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/isa/pool.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {
namespace {

/// f(place in the image, tap) for what the window of an output pixel meets inside the image.
template <class F>
void each_tap(const Geometry& g, int64_t i, int64_t j, int64_t k, F&& f) {
  int64_t tap = 0;
  for (int64_t a = 0; a < g.kernel[0]; ++a)
    for (int64_t b = 0; b < g.kernel[1]; ++b)
      for (int64_t c = 0; c < g.kernel[2]; ++c, ++tap) {
        const int64_t z = i * g.stride[0] - g.padding[0] + a * g.dilation[0],
                      y = j * g.stride[1] - g.padding[1] + b * g.dilation[1],
                      x = k * g.stride[2] - g.padding[2] + c * g.dilation[2];
        if (z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1] && x >= 0 && x < g.in[2])
          f((z * g.in[1] + y) * g.in[2] + x, tap);
      }
}

/// Where windows begin along a dim, and whether all of one is inside.
int64_t first_of(const Geometry& g, int d, int64_t i) { return i * g.stride[d] - g.padding[d]; }
bool is_inside(const Geometry& g, int d, int64_t i) {
  const int64_t first = first_of(g, d, i);
  return first >= 0 && first + (g.kernel[d] - 1) * g.dilation[d] < g.in[d];
}

/// What a window meets: places in the image, or from the window's first on, and the taps.
struct Met {
  std::vector<int64_t> places, taps;
  void add(int64_t place, int64_t tap) {
    places.push_back(place);
    taps.push_back(tap);
  }
};

}  // namespace

bool depthwise_of_channels(const Geometry& g, Tensor& input, Tensor& weight, Tensor* bias, Tensor& out) {
  const MemoryFormat format = format_of(out);
  if (format == MemoryFormat::Contiguous || !g.is_depthwise() || !is_floating(out.dtype())) return false;
  const DType compute = compute_of(out.dtype());
  const TensorRef x = dense_images(input, compute, format), w = dense_in(&weight, compute), b = dense_in(bias, compute),
                  y = place_for(out, compute, format);
  visit_compute(compute, "conv", [&]<class T>() {
    const auto& loops = dense::pool_loops<T>();
    const int64_t n = g.channels, lines = g.out[0] * g.out[1];
    const auto weights = scratch<T>(g.taps * n);  // a row of channels for each tap
    for (int64_t c = 0; c < n; ++c)
      for (int64_t t = 0; t < g.taps; ++t) weights[t * n + c] = w->data<T>()[c * g.taps + t];
    Met whole;
    for (int64_t t = 0; t < g.taps; ++t) {
      const int64_t z = t / (g.kernel[1] * g.kernel[2]), row = t / g.kernel[2] % g.kernel[1], column = t % g.kernel[2];
      whole.add((z * g.dilation[0] * g.in[1] + row * g.dilation[1]) * g.in[2] + column * g.dilation[2], t);
    }
    const int64_t grain = 32768 / std::max<int64_t>(1, g.out[2] * g.taps * n) + 1;
    parallel_for(0, g.batches * lines, grain,
                 [&, from = x->data<T>(), to = y->data<T>(), start = data_or_null<T>(b)](int64_t begin, int64_t end) {
                   Met part;
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t z = i % lines / g.out[1], row = i % g.out[1];
                     const T* image = from + i / lines * g.in_size() * n;
                     const bool is_inner = is_inside(g, 0, z) && is_inside(g, 1, row);
                     for (int64_t k = 0; k < g.out[2]; ++k) {
                       T* result = to + (i * g.out[2] + k) * n;
                       if (is_inner && is_inside(g, 2, k)) {
                         const int64_t first =
                             (first_of(g, 0, z) * g.in[1] + first_of(g, 1, row)) * g.in[2] + first_of(g, 2, k);
                         loops.mixture(image + first * n, whole.places.data(), weights.get(), whole.taps.data(), g.taps,
                                       n, start, result);
                         continue;
                       }
                       part.places.clear();
                       part.taps.clear();
                       each_tap(g, z, row, k, [&](int64_t place, int64_t tap) { part.add(place, tap); });
                       loops.mixture(image, part.places.data(), weights.get(), part.taps.data(),
                                     int64_t(part.places.size()), n, start, result);
                     }
                   }
                 });
  });
  if (y.get() != &out) copy_into(out, *y);
  return true;
}

}  // namespace vivace::kernels
