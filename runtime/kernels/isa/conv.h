// The inner loops of convolution over padded planes (conv_planes.h), compiled once per instruction set for float
// and double. Both read and write whole vectors: arrays have room for `width` elements behind their last position.
#pragma once
#include <cstdint>
#include <type_traits>

namespace vivace::dense {

/// The integer as wide as a lane.
template <class T>
using Lane = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T>
struct ConvLoops {
  int rows;      // the most rows of `tile`: a power of 2
  int width;     // positions that `tile` works on at once
  int dot_rows;  // the most rows of `dots`: a power of 2

  /// out[r][p] = bias[r] + the sum of weights[c][t][r] * in[c][offsets[t] + p] over channels c and taps t, for n
  /// positions p; rows r is a power of 2. bias may be null.
  void (*tile)(int rows, int64_t n, const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets,
               int64_t taps, const T* weights, const T* bias, T* out, int64_t out_step);
  /// sums[r][k] += the sum of a[r][p] * b[offsets[k] + p] over n positions p.
  void (*dots)(int rows, int64_t n, const T* a, int64_t a_step, const T* b, const int64_t* offsets, int64_t columns,
               T* sums, int64_t sums_step);
  /// out[p] = the largest in[offsets[t] + p] over taps t, or NaN if there is one; place[p] = places[t] of the first
  /// such t (the last of NaNs).
  void (*largest)(int64_t n, const T* in, const int64_t* offsets, const Lane<T>* places, int64_t taps, T* out,
                  Lane<T>* place);
  /// out[k] = best[k] and index[k] = first + k * step + place[k] for n windows; whether -inf is among them.
  bool (*give)(int64_t n, const T* best, const Lane<T>* place, int64_t first, int64_t step, T* out, int64_t* index);
  /// to[r][p] = from[r][p]; of `to` nothing else is touched.
  void (*copy)(int rows, int64_t n, const T* from, int64_t from_step, T* to, int64_t to_step);
  /// Elements 0, 2, 4, ... of n to `even`, the others to `odd`.
  void (*split_pairs)(int64_t n, const T* from, T* even, T* odd);
};

template <class T>
const ConvLoops<T>& conv_loops();

}  // namespace vivace::dense
