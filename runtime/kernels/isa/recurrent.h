// The elementwise part of a recurrent step for one row of the batch, compiled once per instruction set for float and
// double. `x` and `y` hold the gates' parts from the input and from the state, one block of n elements per gate.
#pragma once
#include <cstdint>

namespace vivace::dense {

template <class T>
struct RecurrentLoops {
  /// c and out: the new states; c is read before. kept: i, f, g, o and the new c, or null.
  void (*lstm)(const T* x, const T* y, T* c, T* out, T* kept, int64_t n);
  /// From dh, and dc, which becomes that of `before` (the old c), to the gradient of the gates.
  void (*lstm_backward)(const T* kept, const T* before, const T* dh, T* dc, T* dx, int64_t n);
  /// o * tanh(c) again.
  void (*lstm_output)(const T* kept, T* out, int64_t n);
  /// h: the old state, out: the new one. kept: r, z, n and y's block of n, or null.
  void (*gru)(const T* x, const T* y, const T* h, T* out, T* kept, int64_t n);
  /// From dh, which becomes its direct part of the old h's, to the gradients of x and y.
  void (*gru_backward)(const T* kept, const T* h, T* dh, T* dx, T* dy, int64_t n);
  void (*tanh)(const T* x, const T* y, T* out, int64_t n);
  void (*tanh_backward)(const T* out, const T* dh, T* dx, int64_t n);
  void (*relu)(const T* x, const T* y, T* out, int64_t n);
  void (*relu_backward)(const T* out, const T* dh, T* dx, int64_t n);
};

template <class T>
const RecurrentLoops<T>& recurrent_loops();

}  // namespace vivace::dense
