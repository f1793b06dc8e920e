// The loops of Fourier transforms, compiled once per instruction set for float and double. Complex numbers are (re, im)
// pairs in memory; scratch memory is aligned to a vector. An inverse transform swaps both parts on the way in and out.
#pragma once
#include <cstdint>

namespace vivace::dense {

/// One of Stockham's passes: `groups` butterflies of `radix` elements that lie groups * stride apart, each for `stride`
/// neighbours.
template <class T>
struct FftPass {
  int radix;
  int64_t groups, stride;
  const T* twiddles;  // radix - 1 pairs a group
  const T* roots;     // radix pairs, exp(-2 pi i j / radix)
};

/// A whole transform.
template <class T>
struct FftPasses {
  int64_t length;
  int count;
  const FftPass<T>* passes;
};

/// A transform of which each lane has a part: elements lane, lane + lanes, ... of the line.
template <class T>
struct FftSplit {
  FftPasses<T> along, across;  // of a part, and of one element of all parts
  const T* twiddles;           // for each element of a part a vector of real and one of imaginary parts
};

inline constexpr int kLargestRadix = 31;

template <class T>
struct FftLoops {
  int lanes;
  /// Transforms up to `lanes` contiguous lines; scratch: 4 * lanes * length.
  void (*rows)(const FftPasses<T>&, const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines,
               bool is_inverse, T scale, T* scratch);
  /// Transforms up to `lanes` lines that lie side by side, their elements `step` apart; scratch as above.
  void (*columns)(const FftPasses<T>&, const T* from, T* to, int64_t step, int64_t lines, bool is_inverse, T scale,
                  T* scratch);
  /// Transforms one contiguous line; scratch: 4 * lanes * (length of a part + lanes).
  void (*line)(const FftSplit<T>&, const T* from, T* to, bool is_inverse, T scale, T* scratch);
  /// out = scale * x * by, elementwise, with the parts of x and out swapped if asked for.
  void (*multiply)(const T* x, const T* by, T* out, int64_t n, T scale, bool swaps_x, bool swaps_out);
  /// x, the transform of n / 2 pairs of reals, becomes the first n / 2 + 1 elements of the transform of n reals.
  void (*untangle)(T* x, int64_t half, const T* roots);
  /// The other way round, so that an inverse transform of `half` elements gives pairs of reals.
  void (*tangle)(const T* x, T* out, int64_t half, const T* roots);
};

template <class T>
const FftLoops<T>& fft_loops();

}  // namespace vivace::dense
