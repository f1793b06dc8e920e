// Depthwise convolution: every channel of every image on its own, in padded planes that stay in the first cache.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/kernels/conv_sums.h"

namespace vivace::kernels {

/// Sums over the taps of a plane, and where they go: all of a convolution, or what its adjoint by the input has for one
/// remainder by the stride.
struct PlaneSums {
  std::vector<int64_t> offsets, taps;
  Grid grid;
  int64_t start;   // of the first result in an image
  int64_t packed;  // of the weights in the packed ones
};

/// Channels that go through each step together: what a step has just written is slow to read.
inline constexpr int64_t kTogether = 4;

/// One channel in and one out per group; `layout` holds one image. `weights`: of each part, the taps of all channels.
template <class T>
void sum_channels(const Geometry& g, const PlaneLayout& layout, std::span<const PlaneSums> parts, const T* from,
                  int64_t from_size, const T* weights, const T* bias, T* to, int64_t to_size) {
  const ConvLoops<T>& loops = loops_for<T>();
  int64_t most = 0;
  for (const PlaneSums& part : parts) most = std::max(most, part.grid.end(layout, 1));
  const int64_t sums_step = most + loops.width;
  const auto put = [&](const PlaneSums& part, const T* sums, T* target) {
    const int64_t step = part.grid.step[2];
    if (step == 1) {
      for (int64_t z = 0; z < part.grid.size[0]; ++z)
        copy_rows(part.grid.size[1], part.grid.size[2], sums + z * layout.size[1] * layout.size[2], layout.size[2],
                  target + z * part.grid.step[0], part.grid.step[1]);
      return;
    }
    part.grid.each_line(layout, 0, part.grid.end(layout, 1), [&](int64_t p, int64_t count, int64_t at, auto...) {
      T* line = target + at;
      for (int64_t i = 0; i < count; ++i) line[i * step] = sums[p + i];
    });
  };
  const int64_t channels = g.batches * g.groups;
  const int64_t grain = std::max<int64_t>(1, kThreadWork * channels / std::max<int64_t>(1, g.work()));
  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    const auto planes = layout.planes<T>(kTogether);
    const auto sums = scratch<T>(kTogether * sums_step);
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t together = std::min(kTogether, end - first);
      layout.fill(planes.get(), from + first * from_size, 1, together, 0);
      for (const PlaneSums& part : parts) {
        const int64_t taps = int64_t(part.offsets.size()), n = part.grid.end(layout, 1);
        for (int64_t k = 0; k < together; ++k) {
          const int64_t group = (first + k) % g.groups;
          loops.tile(1, n, planes.get() + k * layout.channel_step, 1, 0, part.offsets.data(), taps,
                     weights + part.packed + group * taps, bias ? bias + group : nullptr, sums.get() + k * sums_step,
                     0);
        }
        for (int64_t k = 0; k < together; ++k)
          put(part, sums.get() + k * sums_step, to + (first + k) * to_size + part.start);
      }
    }
  });
}

/// dw (groups, taps) = the products of the gradient with what each tap met, over the batch. Between the lines of the
/// gradient are zeros; `by_lines`: see weight_grad.
template <class T>
void channel_dots(const Geometry& g, const T* dy, const T* x, T* dw, bool by_lines) {
  const ConvLoops<T>& loops = loops_for<T>();
  const int64_t ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0}, size = g.out_size();
  const PlaneLayout layout = g.input_planes(1, loops.width);
  const PlaneLayout grads(g.out, zeros, ones, ones, layout.size, ones, 1, loops.width);
  const std::vector<int64_t> offsets = g.input_offsets(layout);
  const Grid grid{{g.out[0], g.out[1], g.out[2]}, {}, 0, 0};
  const int64_t n = grid.end(layout, 1);
  const int64_t grain = std::max<int64_t>(1, kThreadWork * g.groups / std::max<int64_t>(1, g.work()));
  parallel_for(0, g.groups, grain, [&](int64_t begin, int64_t end) {
    const auto planes = layout.planes<T>(1), grad_planes = grads.planes<T>(1);
    for (int64_t group = begin; group < end; ++group)
      for (int64_t i = 0; i < g.batches; ++i) {
        const int64_t channel = i * g.groups + group;
        layout.fill(planes.get(), x + channel * g.in_size(), 1, 1, 0);
        grads.fill(grad_planes.get(), dy + channel * size, 1, 1, 0);
        const auto sums = [&](int64_t p, int64_t count) {
          loops.dots(1, count, grad_planes.get() + p, 0, planes.get() + p, offsets.data(), g.taps, dw + group * g.taps,
                     0);
        };
        if (by_lines)
          grid.each_line(layout, 0, n, [&](int64_t p, int64_t count, auto...) { sums(p, count); });
        else
          sums(0, n);
      }
  });
}

}  // namespace vivace::kernels
