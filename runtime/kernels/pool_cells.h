// The windows of a pool over (N, C, ...spatial), regular or adaptive, and what means divide by.
#pragma once
#include "runtime/kernels/window.h"

namespace vivace::kernels {

/// The part of a window that is inside the input, and its length with the padding that belongs to it.
struct Span {
  int64_t begin, end, step, full;
};

struct Cells : Window {
  bool is_adaptive;

  /// Regular windows.
  Cells(IntList input, IntList output, IntList kernels, IntList strides, IntList paddings, IntList dilations)
      : Window(input, kernels, strides, paddings, dilations), is_adaptive(false) {
    set_out(output);
  }
  /// Windows that divide the input evenly.
  Cells(IntList input, IntList output)
      : Window(input, output.subspan(2), output.subspan(2), output.subspan(2), output.subspan(2)), is_adaptive(true) {
    set_out(output);
  }
  Span span(int d, int64_t i) const {
    if (is_adaptive) {
      const int64_t b = i * in[d] / out[d], e = ((i + 1) * in[d] + out[d] - 1) / out[d];
      return {b, e, 1, e - b};
    }
    const int64_t s = dilation[d];
    int64_t b = i * stride[d] - padding[d];
    const int64_t e = b + s * (kernel[d] - 1) + 1, full = std::min(e, in[d] + padding[d]) - b;
    if (b < 0) b += (-b + s - 1) / s * s;
    return {b, std::min(e, in[d]), s, full};
  }
  /// f(output index in the image, spans of the three dims)
  template <class F>
  void each(F&& f) const {
    int64_t o = 0;
    for (int64_t i = 0; i < out[0]; ++i) {
      const Span z = span(0, i);
      for (int64_t j = 0; j < out[1]; ++j) {
        const Span y = span(1, j);
        for (int64_t k = 0; k < out[2]; ++k) f(o++, z, y, span(2, k));
      }
    }
  }
  template <class F>
  void each_element(const Span& z, const Span& y, const Span& x, F&& f) const {
    for (int64_t a = z.begin; a < z.end; a += z.step)
      for (int64_t b = y.begin; b < y.end; b += y.step) {
        const int64_t line = (a * in[1] + b) * in[2];
        for (int64_t c = x.begin; c < x.end; c += x.step) f(line + c);
      }
  }
};

/// `divisor`: what sums are divided by; 0: the number of elements, padding included or not.
struct Mean {
  int64_t divisor = 0;
  bool count_include_pad = true;
  double of(const Span& z, const Span& y, const Span& x) const {
    if (divisor) return double(divisor);
    if (count_include_pad) return double(z.full * y.full * x.full);
    return double((z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin));
  }
};

}  // namespace vivace::kernels
