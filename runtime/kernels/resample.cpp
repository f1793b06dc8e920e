// Resizing along one dim: positions and weights are worked out once, then applied to every line or row.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/kernels/nn/resize.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

/// The cubic convolution kernel of a = -3 / 4 at distance x >= 0.
template <class T>
T cubic_weight(T x) {
  const T a = T(-0.75);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/// Of each result: the places of its `count` elements, and their weights.
template <class T>
struct Taps {
  int64_t count;
  std::vector<int64_t> places;
  std::vector<T> weights;
  int64_t repeats = 0;  // every element so many times, or another pattern: 0

  Taps(std::string_view mode, int64_t in, int64_t out, double scale, bool align_corners)
      : count(mode == "cubic"    ? 4
              : mode == "linear" ? 2
                                 : 1) {
    const T last = T(in - 1), step = T(scale);
    for (int64_t i = 0; i < out; ++i) {
      if (count == 1) {  // PyTorch finds these in float32 for all dtypes
        const float position = (float(i) + (mode == "nearest-exact" ? 0.5f : 0.0f)) * float(scale);
        add(std::min<int64_t>(int64_t(std::min(position, float(in))), in - 1), 1);
        continue;
      }
      T at = align_corners ? T(i) * step : (T(i) + T(0.5)) * step - T(0.5);
      if (count == 2) at = std::max(at, T(0));
      const T base = std::min(std::floor(at), count == 2 ? last : last + 2), part = at - base;
      if (count == 2) {
        add(int64_t(base), 1 - part);
        add(std::min(int64_t(base) + 1, in - 1), part);
        continue;
      }
      for (int64_t tap = -1; tap <= 2; ++tap)
        add(std::clamp<int64_t>(int64_t(base) + tap, 0, in - 1), cubic_weight(std::fabs(part - T(tap))));
    }
    if (count != 1 || in == 0 || out % in != 0) return;
    repeats = out / in;
    for (int64_t i = 0; i < out && repeats; ++i)
      if (places[size_t(i)] != i / repeats) repeats = 0;
  }

 private:
  void add(int64_t place, T weight) {
    places.push_back(place);
    weights.push_back(weight);
  }
};

/// The sizes in the order that a format has in memory, and where `dim` is among them.
struct Ordered {
  Dims sizes;
  int64_t dim;
  Ordered(IntList from, int64_t d, MemoryFormat format) : sizes(from), dim(d) {
    if (format == MemoryFormat::Contiguous) return;
    const int last = sizes.n - 1;  // channels go there
    std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
    dim = d == 0 ? 0 : d == 1 ? last : d - 1;
  }
};

/// f(pointer to the line of `from`, of `to`, taps) for each line; `in` and `out` are the sizes along dim before and
/// after resampling.
template <class F>
void for_lines(std::string_view mode, Tensor& from, Tensor& to, int64_t dim, int64_t in, int64_t out, double scale,
               bool align_corners, F&& f) {
  const DType compute = compute_of(to.dtype());
  const MemoryFormat format = kernels::format_of(to);
  const TensorRef x = kernels::dense_images(from, compute, format), y = kernels::place_for(to, compute, format);
  const Ordered ordered(to.sizes(), dim, format);
  const kernels::Slabs lines(ordered.sizes, ordered.dim);
  const int64_t x_step = from.sizes()[dim] * lines.inner, y_step = to.sizes()[dim] * lines.inner;
  kernels::visit_compute(compute, "interpolate", [&]<class T>() {
    const Taps<T> taps(mode, in, out, scale, align_corners);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, std::max(x_step, y_step)));
    parallel_for(0, lines.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        f(x->data<T>() + i * x_step, y->data<T>() + i * y_step, y_step, lines.inner, taps);
    });
  });
  if (y.get() != &to) copy_into(to, *y);
}

}  // namespace

namespace meta {

TensorRef resample(Tensor& input, int64_t dim, int64_t size, std::string_view, double scale, bool) {
  kernels::check_floating(input.dtype(), "interpolate");
  if (!(scale >= 0) || std::isinf(scale)) fail("interpolate: a scale of ", scale, " is not positive and finite");
  if (dim < 0 || dim >= input.dim() || size < 0 || input.sizes()[size_t(dim)] == 0)
    fail("interpolate: can't make dim ", dim, " of a tensor of sizes ", input.sizes(), " have size ", size);
  Dims sizes(input.sizes());
  sizes[int(dim)] = size;
  return kernels::empty_images(sizes, input.dtype(), input.device(), kernels::format_of(input));
}
TensorRef resample_backward(Tensor& grads, IntList input_sizes, int64_t dim, int64_t size, std::string_view,
                            double scale, bool) {
  bool fits =
      scale >= 0 && !std::isinf(scale) && grads.dim() == int64_t(input_sizes.size()) && dim >= 0 && dim < grads.dim();
  for (int64_t d = 0; fits && d < grads.dim(); ++d)
    fits = d == dim ? grads.size(d) == size && input_sizes[size_t(d)] > 0 : grads.size(d) == input_sizes[size_t(d)];
  if (!fits)
    fail("interpolate: gradients of sizes ", grads.sizes(), " don't belong to an input of sizes ", input_sizes);
  return kernels::empty_images(input_sizes, grads.dtype(), grads.device(), kernels::format_of(grads));
}

}  // namespace meta

namespace kernels {

void resample(Tensor& input, int64_t dim, int64_t size, std::string_view mode, double scale, bool align_corners,
              Tensor& out) {
  for_lines(mode, input, out, dim, input.sizes()[size_t(dim)], size, scale, align_corners,
            [size]<class T>(const T* from, T* to, int64_t, int64_t inner, const Taps<T>& taps) {
              const auto& loops = dense::loops<T>();
              const int64_t* place = taps.places.data();
              const T* weight = taps.weights.data();
              if (inner == 1 && taps.repeats > 0) {
                const auto repeat = sizeof(T) == 4 ? move_loops().transpose4 : move_loops().transpose8;
                return repeat(reinterpret_cast<char*>(to), taps.repeats * int64_t(sizeof(T)),
                              reinterpret_cast<const char*>(from), 0, taps.repeats, size / taps.repeats);
              }
              for (int64_t i = 0; i < size; ++i, place += taps.count, weight += taps.count, to += inner) {
                if (inner == 1) {
                  T sum = weight[0] * from[place[0]];
                  for (int64_t t = 1; t < taps.count; ++t) sum += weight[t] * from[place[t]];
                  *to = sum;
                } else if (taps.count == 1) {
                  std::copy_n(from + place[0] * inner, inner, to);
                } else {
                  loops.combine(from + place[0] * inner, from + place[1] * inner, to, inner, weight[0], weight[1], 0);
                  for (int64_t t = 2; t < taps.count; ++t)
                    loops.combine(from + place[t] * inner, to, to, inner, weight[t], 1, 0);
                }
              }
            });
}

void resample_backward(Tensor& grads, IntList input_sizes, int64_t dim, int64_t size, std::string_view mode,
                       double scale, bool align_corners, Tensor& out) {
  for_lines(mode, grads, out, dim, input_sizes[size_t(dim)], size, scale, align_corners,
            [size]<class T>(const T* from, T* to, int64_t length, int64_t inner, const Taps<T>& taps) {
              const int64_t* place = taps.places.data();
              const T* weight = taps.weights.data();
              std::fill_n(to, length, T(0));
              for (int64_t i = 0; i < size; ++i, from += inner)
                for (int64_t t = 0; t < taps.count; ++t, ++place, ++weight) {
                  T* sum = to + *place * inner;
                  if (inner == 1)
                    *sum += *weight * *from;
                  else
                    dense::loops<T>().combine(from, sum, sum, inner, *weight, 1, 0);
                }
            });
}

}  // namespace kernels
}  // namespace vivace
