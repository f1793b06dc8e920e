// Windows that slide over (N, C, ...spatial): sizes of convolutions and pools with one to three spatial dims, as three.
#pragma once
#include <algorithm>

#include "runtime/core/error.h"
#include "runtime/core/tensor.h"

namespace vivace::kernels {

struct Window {
  int64_t batches, channels;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];

  /// `input`: sizes (N, C, ...); lists have one element per spatial dim. `out` is left to the caller. A stride beyond
  /// the padded input, which leaves one window, is shortened to it.
  Window(IntList input, IntList kernels, IntList strides, IntList paddings, IntList dilations) {
    batches = input[0];
    channels = input[1];
    const size_t n = input.size() - 2;
    for (size_t d = 0; d < 3; ++d) {
      const bool real = d >= 3 - n;
      const size_t i = d - (3 - n);
      in[d] = real ? input[i + 2] : 1;
      out[d] = 1;
      kernel[d] = real ? kernels[i] : 1;
      padding[d] = real ? paddings[i] : 0;
      stride[d] = real ? std::min(strides[i], std::max<int64_t>(1, in[d] + 2 * padding[d])) : 1;
      dilation[d] = real ? dilations[i] : 1;
    }
  }
  void set_out(IntList sizes) {
    for (size_t d = 2; d < sizes.size(); ++d) out[3 - (sizes.size() - d)] = sizes[d];
  }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Throws if a number of a window does not fit 32 bits: products of two of them fit 64 then.
inline void check_window(const char* op, std::initializer_list<IntList> lists) {
  for (const IntList list : lists)
    for (const int64_t n : list)
      if (n > INT32_MAX) fail(op, ": value cannot be converted to type int without overflow: ", n);
}

/// How many windows fit along one dim.
inline int64_t window_count(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                            bool ceil_mode) {
  const int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0) return room / stride + (ceil_mode && room > -stride ? 1 : 0);
  int64_t n = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // The last window has to start inside the input or its left padding.
  if (ceil_mode && (n - 1) * stride >= in + padding) --n;
  return n;
}

}  // namespace vivace::kernels
