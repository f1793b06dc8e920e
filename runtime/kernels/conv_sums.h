// The sums that convolution and its adjoint by the input are: geometry, packed weights, tiles over shifted planes.
#pragma once
#include <bit>
#include <vector>

#include "runtime/kernels/arith.h"
#include "runtime/kernels/conv_planes.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {

using dense::ConvLoops;

/// Elements of the weights that stay in the second cache while positions are walked; of the planes that are filled at
/// once, so that small images share the reading of weights.
inline constexpr int64_t kWeights = 64 * 1024, kPlanes = 256 * 1024;
/// Elements of a tile: ConvLoops' rows times width at most.
inline constexpr int kTile = 768;
/// Elements behind a tile that copying the last of its rows may read, a vector at a time.
inline constexpr int kSlack = 16;

// ---- the loops of element types without vectors

template <class T>
void plain_tile(int rows, int64_t n, const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets,
                int64_t taps, const T* weights, const T* bias, T* out, int64_t out_step) {
  for (int r = 0; r < rows; ++r)
    for (int64_t p = 0; p < n; ++p) {
      T sum = bias ? bias[r] : T{};
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t t = 0; t < taps; ++t)
          sum = add(sum, mul(weights[(c * taps + t) * rows + r], in[c * channel_step + offsets[t] + p]));
      out[r * out_step + p] = sum;
    }
}
template <class T>
void plain_dots(int rows, int64_t n, const T* a, int64_t a_step, const T* b, const int64_t* offsets, int64_t columns,
                T* sums, int64_t sums_step) {
  for (int r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t p = 0; p < n; ++p) {
        T& sum = sums[r * sums_step + k];
        sum = add(sum, mul(a[r * a_step + p], b[offsets[k] + p]));
      }
}
template <class T>
void plain_copy(int rows, int64_t n, const T* from, int64_t from_step, T* to, int64_t to_step) {
  for (int r = 0; r < rows; ++r) std::copy_n(from + r * from_step, n, to + r * to_step);
}
template <class T>
inline constexpr ConvLoops<T> kPlainLoops = {
    1, 64, 1, plain_tile<T>, plain_dots<T>, nullptr, nullptr, plain_copy<T>, nullptr};

template <class T>
const ConvLoops<T>& loops_for() {
  if constexpr (std::is_floating_point_v<T>)
    return dense::conv_loops<T>();
  else
    return kPlainLoops<T>;
}

// ---- geometry

struct Geometry : Window {
  int64_t groups, in_channels, out_channels;  // channels per group
  int64_t taps;

  Geometry(IntList input, IntList weight, IntList output, IntList strides, IntList paddings, IntList dilations,
           int64_t n_groups)
      : Window(input, weight.subspan(2), strides, paddings, dilations) {
    set_out(output);
    groups = n_groups;
    in_channels = channels / groups;
    out_channels = weight[0] / groups;
    taps = kernel_size();
  }
  int64_t work() const { return batches * groups * in_channels * out_channels * taps * out_size(); }

  /// The images are their own planes, in rows that are long enough for a product of matrices.
  bool is_pointwise() const {
    bool plain = taps == 1 && out_size() >= 256;
    for (int d = 0; d < 3; ++d) plain = plain && stride[d] == 1 && padding[d] == 0;
    return plain;
  }
  /// One window that is the whole image: each group is a product with a matrix.
  bool is_whole() const {
    bool whole = out_size() == 1;
    for (int d = 0; d < 3; ++d) whole = whole && padding[d] == 0 && kernel[d] == in[d];
    return whole;
  }
  bool is_depthwise() const { return in_channels == 1 && out_channels == 1 && groups > 1; }
  /// How many images fit a set of planes of `n_channels` channels, if every thread has some.
  int64_t images_at_once(int64_t n_channels, int64_t size) const {
    const int64_t fit = kPlanes / std::max<int64_t>(1, n_channels * size);
    const int64_t share = (batches + get_num_threads() - 1) / get_num_threads();
    return std::clamp<int64_t>(fit, 1, std::max<int64_t>(1, share));
  }
  PlaneLayout input_planes(int64_t images, int64_t slack) const {
    return {in, padding, kernel, dilation, out, stride, images, slack};
  }
  std::vector<int64_t> input_offsets(const PlaneLayout& planes) const {
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < kernel[0]; ++i)
      for (int64_t j = 0; j < kernel[1]; ++j)
        for (int64_t k = 0; k < kernel[2]; ++k)
          offsets.push_back(planes.at(i * dilation[0], j * dilation[1], k * dilation[2]));
    return offsets;
  }
};

/// Calls f(first image, images) on parts of the batch, on several threads where the work is worth it.
template <class F>
void over_images(const Geometry& g, int64_t at_once, F&& f) {
  const int64_t chunks = (g.batches + at_once - 1) / at_once;
  const int64_t grain = std::max<int64_t>(1, kThreadWork * chunks / std::max<int64_t>(1, g.work()));
  parallel_for(0, chunks, grain, [&](int64_t begin, int64_t end) {
    f(begin * at_once, std::min(g.batches, end * at_once) - begin * at_once);
  });
}

// ---- sums over planes

inline int block_rows(int64_t left, int most) { return int(std::bit_floor(uint64_t(std::min<int64_t>(left, most)))); }

/// Weights in the order in which tiles read them, [block of rows][channel][tap][row]. In `from`, rows are row_step and
/// channels channel_step apart.
template <class T>
void pack(int64_t rows, int64_t channels, const std::vector<int64_t>& taps, const T* from, int64_t row_step,
          int64_t channel_step, T* to) {
  const int most = loops_for<T>().rows;
  const int64_t depth = channels * int64_t(taps.size());
  bool in_order = sizeof(T) == 4 || sizeof(T) == 8;  // what a transposition can move
  for (size_t t = 0; t < taps.size(); ++t) in_order = in_order && taps[t] == int64_t(t);
  const bool is_dense = channel_step == int64_t(taps.size());
  const auto turn = [](T* target, int64_t n, const T* source, int64_t step, int64_t columns) {
    (sizeof(T) == 4 ? move_loops().transpose4 : move_loops().transpose8)(
        reinterpret_cast<char*>(target), n * int64_t(sizeof(T)), reinterpret_cast<const char*>(source),
        step * int64_t(sizeof(T)), n, columns);
  };
  parallel_for(0, (rows + most - 1) / most, std::max<int64_t>(1, kThreadWork / (depth + 1)), [&](int64_t b, int64_t e) {
    for (int64_t r = b * most; r < std::min(rows, e * most);) {
      const int n = block_rows(rows - r, most);
      T* at = to + r * depth;
      if (in_order && is_dense) {
        turn(at, n, from + r * row_step, row_step, depth);
      } else if (in_order) {
        for (int64_t c = 0; c < channels; ++c)
          turn(at + c * int64_t(taps.size()) * n, n, from + r * row_step + c * channel_step, row_step,
               int64_t(taps.size()));
      } else {
        for (int64_t c = 0; c < channels; ++c)
          for (const int64_t tap : taps)
            for (int i = 0; i < n; ++i) *at++ = from[(r + i) * row_step + c * channel_step + tap];
      }
      r += n;
    }
  });
}

/// One group's sums over the images of `planes`, put where `grid` says.
template <class T>
void sum_planes(const PlaneLayout& layout, const T* planes, int64_t channels, const std::vector<int64_t>& offsets,
                const T* weights, int64_t rows, const T* bias, int64_t images, const Grid& grid, T* out) {
  const ConvLoops<T>& loops = loops_for<T>();
  const int64_t taps = int64_t(offsets.size()), depth = channels * taps;
  const int64_t strip = std::max<int64_t>(1, kWeights / std::max<int64_t>(1, depth * loops.rows)) * loops.rows;
  const int64_t blocks = (rows + loops.rows - 1) / loops.rows, n = grid.end(layout, images);
  const int64_t grain = std::max<int64_t>(1, kThreadWork * blocks / std::max<int64_t>(1, depth * rows * n));
  parallel_for(0, blocks, grain, [&](int64_t first, int64_t last) {
    alignas(64) T tile[kTile + kSlack];
    const int64_t end = std::min(rows, last * loops.rows);
    for (int64_t from = first * loops.rows; from < end; from += strip)
      grid.each_part(layout, images, [&](int64_t start, int64_t count) {
        for (int64_t p = start; p < start + count; p += loops.width) {
          const int64_t m = std::min<int64_t>(loops.width, start + count - p);
          for (int64_t r = from; r < std::min(end, from + strip);) {
            const int k = block_rows(end - r, loops.rows);
            loops.tile(k, m, planes + p, channels, layout.channel_step, offsets.data(), taps, weights + r * depth,
                       bias ? bias + r : nullptr, tile, loops.width);
            grid.scatter(loops, layout, tile, k, p, m, out + r * grid.channel_step);
            r += k;
          }
        }
      });
  });
}

}  // namespace vivace::kernels
