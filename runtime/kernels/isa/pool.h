// The loops of pools and depthwise convolutions whose pixels are rows of n channels, compiled once per instruction set
// for float and double. A window is the places of its pixels.
#pragma once
#include <cstdint>

namespace vivace::dense {

template <class T>
struct PoolLoops {
  /// The largest element of each channel, NaN or the first of equals, and its place.
  void (*largest)(const T* x, const int64_t* places, int64_t count, int64_t n, T* best, int64_t* index);
  void (*mean)(const T* x, const int64_t* places, int64_t count, int64_t n, T divisor, T* out);
  /// start (zeros if null) + the sum of each pixel times the row of weights that `rows` says.
  void (*mixture)(const T* x, const int64_t* places, const T* weights, const int64_t* rows, int64_t count, int64_t n,
                  const T* start, T* out);
  /// Adds g / divisor to the n first of `channels` of each pixel.
  void (*spread)(const T* g, T divisor, const int64_t* places, int64_t count, int64_t channels, int64_t n, T* out);
};

template <class T>
const PoolLoops<T>& pool_loops();

}  // namespace vivace::dense
