// Where convolution reads and writes: copies of images with zeros around them, in which every window of the output
// starts one element after the one before it, and the grid of elements that results go to.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/isa/conv.h"
#include "runtime/kernels/window.h"

namespace vivace::kernels {

/// Rows of n elements, so many elements apart.
template <class T>
void copy_rows(int64_t rows, int64_t n, const T* from, int64_t from_step, T* to, int64_t to_step) {
  if constexpr (std::is_floating_point_v<T>)
    return dense::conv_loops<T>().copy(int(rows), n, from, from_step, to, to_step);
  else
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * from_step, n, to + r * to_step);
}

/// Elements 0, 2, 4, ... of n, and elements 1, 3, 5, ...
template <class T>
void split_pairs(int64_t n, const T* from, T* even, T* odd) {
  if constexpr (std::is_floating_point_v<T>) return dense::conv_loops<T>().split_pairs(n, from, even, odd);
  for (int64_t i = 0; i + 1 < n; i += 2) {
    even[i / 2] = from[i];
    odd[i / 2] = from[i + 1];
  }
  if (n % 2) even[n / 2] = from[n - 1];
}

/// The layout of padded images: [channel][phase][image][z][y][x]. Coordinate v along a dim with stride s stands in
/// phase v % s at v / s, so that neighbours in memory are one stride apart. Without a stride the zeros behind a line
/// are those in front of the next.
struct PlaneLayout {
  int64_t in[3], before[3], stride[3], size[3];
  int64_t images;  // side by side
  int64_t plane, phases, channel_step;
  std::vector<bool> is_read[3];  // whether windows read a phase

  /// `zeros`: in front of the images (cuts if negative); windows of `kernel` elements, `dilation` apart, start at the
  /// multiples of the stride below stride * windows; `slack`: elements that may be read behind the last position.
  PlaneLayout(const int64_t* images_in, const int64_t* zeros, const int64_t* kernel, const int64_t* dilation,
              const int64_t* windows, const int64_t* strides, int64_t n, int64_t slack) {
    int64_t tail = 0;
    double elements = double(n);  // may be more than int64 holds
    plane = phases = 1;
    images = n;
    for (int d = 0; d < 3; ++d) {
      in[d] = images_in[d];
      before[d] = zeros[d];
      stride[d] = strides[d];
      const int64_t end = std::max<int64_t>(0, in[d] + before[d]),
                    reach = (windows[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1,
                    behind = std::max<int64_t>(0, reach - end);
      size[d] = stride[d] == 1 ? end + std::max<int64_t>(0, behind - std::max<int64_t>(0, before[d]))
                               : (std::max(end, reach) + stride[d] - 1) / stride[d];
      is_read[d].resize(size_t(stride[d]));
      for (int64_t i = 0; i < kernel[d]; ++i) is_read[d][size_t(i * dilation[d] % stride[d])] = true;
      size[d] = std::max(size[d], windows[d]);
      elements *= double(size[d]) * double(stride[d]);
      if (elements > 0x1p46) fail("not enough memory for the padded images of a convolution or pool");
      tail = tail * size[d] + std::max<int64_t>(0, before[d]);
      plane *= size[d];
      phases *= stride[d];
    }
    channel_step = (phases * images * plane + tail + slack + 15) / 16 * 16;
  }

  int64_t positions() const { return images * plane; }
  /// Where padded coordinates (z, y, x) stand, from the start of the channel and image.
  int64_t at(int64_t z, int64_t y, int64_t x) const {
    const int64_t phase = (z % stride[0] * stride[1] + y % stride[1]) * stride[2] + x % stride[2];
    return ((phase * images * size[0] + z / stride[0]) * size[1] + y / stride[1]) * size[2] + x / stride[2];
  }

  /// Planes of `channels` channels, all padding.
  template <class T>
  std::unique_ptr<T[]> planes(int64_t channels, T padding = T{}) const {
    auto memory = scratch<T>(channels * channel_step);
    std::fill_n(memory.get(), channels * channel_step, padding);
    return memory;
  }

  /// Copies what windows read of `n` images of `channels` channels; the padding is there already.
  template <class T>
  void fill(T* planes, const T* source, int64_t n, int64_t channels, int64_t image_step) const {
    const int64_t z0 = std::max<int64_t>(0, -before[0]), y0 = std::max<int64_t>(0, -before[1]),
                  x0 = std::max<int64_t>(0, -before[2]);
    if (in[2] <= x0 || in[1] <= y0) return;
    const std::vector<Lane> lanes = stride[2] > 2 ? line_lanes(x0) : std::vector<Lane>();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        T* to = planes + c * channel_step + i * plane;
        const T* from = source + i * image_step + c * in[0] * in[1] * in[2];
        for (Place z(z0 + before[0], stride[0]); z.at < in[0] + before[0]; z.next()) {
          if (!is_read[0][size_t(z.phase)]) continue;
          if (stride[1] == 1 && stride[2] == 1) {
            copy_rows(in[1] - y0, in[2] - x0, from + ((z.at - before[0]) * in[1] + y0) * in[2] + x0, in[2],
                      to + z.phase * images * plane + (z.index * size[1] + y0 + before[1]) * size[2] + x0 + before[2],
                      size[2]);
            continue;
          }
          for (Place y(y0 + before[1], stride[1]); y.at < in[1] + before[1]; y.next())
            if (is_read[1][size_t(y.phase)])
              fill_line(lanes, x0,
                        to + (z.phase * stride[1] + y.phase) * stride[2] * images * plane +
                            (z.index * size[1] + y.index) * size[2],
                        from + ((z.at - before[0]) * in[1] + y.at - before[1]) * in[2]);
        }
      }
  }

 private:
  /// A padded coordinate as phase and index, which are counted up without dividing.
  struct Place {
    int64_t at, stride, phase, index;
    Place(int64_t first, int64_t s) : at(first), stride(s), phase(first % s), index(first / s) {}
    void next() {
      ++at;
      if (++phase == stride) phase = 0, ++index;
    }
  };

  /// Elements of a line that go to one phase: from `from` on, a stride apart, to `to` on, side by side.
  struct Lane {
    int64_t from, to, count;
  };
  std::vector<Lane> line_lanes(int64_t x0) const {
    std::vector<Lane> lanes;
    Place x(x0 + before[2], stride[2]);
    for (int64_t first = 0; first < std::min(in[2] - x0, stride[2]); ++first, x.next())
      if (is_read[2][size_t(x.phase)])
        lanes.push_back(
            {x0 + first, x.phase * images * plane + x.index, (in[2] - x0 - first + stride[2] - 1) / stride[2]});
    return lanes;
  }

  /// `to`: where padded coordinate 0 of the line stands.
  template <class T>
  void fill_line(const std::vector<Lane>& lanes, int64_t x0, T* to, const T* line) const {
    const int64_t first = x0 + before[2], count = in[2] - x0, phase_step = images * plane;
    if (stride[2] == 1) return void(std::memcpy(to + first, line + x0, size_t(count) * sizeof(T)));
    if (stride[2] == 2) {
      T *even = to + first % 2 * phase_step + first / 2, *odd = to + (first + 1) % 2 * phase_step + (first + 1) / 2;
      return split_pairs(count, line + x0, even, odd);
    }
    for (const Lane& lane : lanes) {
      T* __restrict out = to + lane.to;
      const T* __restrict source = line + lane.from;
      for (int64_t i = 0; i < lane.count; ++i) out[i] = source[i * stride[2]];
    }
  }
};

/// Elements (image, channel, z, y, x) of a result that positions of a PlaneLayout go to.
struct Grid {
  int64_t size[3], step[3];
  int64_t image_step, channel_step;

  /// Calls f(first position, count) on the parts of the images' positions that results are at. Rows behind an image's
  /// last are left out where they are worth it.
  template <class F>
  void each_part(const PlaneLayout& from, int64_t images, F&& f) const {
    constexpr int64_t kLanes = 16;  // of a vector, more or less
    const int64_t one = end(from, 1), all = end(from, images);
    if ((one + kLanes - 1) / kLanes * images * 16 > (all + kLanes - 1) / kLanes * 15) return f(0, all);
    for (int64_t i = 0; i < images; ++i) f(i * from.plane, one);
  }

  /// Behind the last position that goes somewhere.
  int64_t end(const PlaneLayout& from, int64_t images) const {
    return (images - 1) * from.plane + ((size[0] - 1) * from.size[1] + size[1] - 1) * from.size[2] + size[2];
  }

  /// f(position - first, count, element's offset, x, y, z) on the lines of results among n positions from `first` on.
  template <class F>
  void each_line(const PlaneLayout& from, int64_t first, int64_t n, F&& f) const {
    int64_t x = 0, y = 0, z = 0, image = 0;
    if (first != 0) {
      x = first % from.size[2], y = first / from.size[2] % from.size[1];
      z = first / (from.size[2] * from.size[1]) % from.size[0], image = first / from.plane;
    }
    for (int64_t p = 0; p < n;) {
      const int64_t left = std::min(from.size[2] - x, n - p), valid = std::min(size[2] - x, left);
      if (valid > 0 && y < size[1] && z < size[0])
        f(p, valid, image * image_step + z * step[0] + y * step[1] + x * step[2], x, y, z);
      p += left;
      x = 0;
      if (++y == from.size[1]) {
        y = 0;
        if (++z == from.size[0]) z = 0, ++image;
      }
    }
  }

  /// Copies a tile's rows, n positions from `first` on, to channels that start at `to`.
  template <class T>
  void scatter(const dense::ConvLoops<T>& loops, const PlaneLayout& from, const T* tile, int rows, int64_t first,
               int64_t n, T* to) const {
    each_line(from, first, n, [&](int64_t p, int64_t count, int64_t at, int64_t, int64_t, int64_t) {
      T* line = to + at;
      if (step[2] == 1) return loops.copy(rows, count, tile + p, loops.width, line, channel_step);
      for (int r = 0; r < rows; ++r)
        for (int64_t i = 0; i < count; ++i) line[r * channel_step + i * step[2]] = tile[r * loops.width + p + i];
    });
  }
};

}  // namespace vivace::kernels
