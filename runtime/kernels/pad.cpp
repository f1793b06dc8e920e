// Padding of the last dims. `pad` has two numbers per dim (before, after), beginning with the last dim; negative ones
// crop.
#include <algorithm>
#include <memory>

#include "generated/kernels/nn/pad.h"
#include "runtime/core/saturate.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/rows.h"

namespace vivace {
namespace {

enum class Mode { Reflect, Replicate, Circular };

Mode parse_mode(std::string_view mode) {
  if (mode == "reflect") return Mode::Reflect;
  if (mode == "replicate") return Mode::Replicate;
  if (mode == "circular") return Mode::Circular;
  fail_not_implemented("pad: unrecognised padding mode ", mode);
}

Dims padded_sizes(const char* op, IntList sizes, IntList pad) {
  if (pad.size() % 2) fail(op, ": Length of pad must be even but instead it equals ", int64_t(pad.size()));
  if (pad.size() > 2 * sizes.size())
    fail(op, ": Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
         int64_t(pad.size()), " while the input has ", int64_t(sizes.size()), " dimensions.");
  Dims out = sizes;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int d = int(sizes.size() - 1 - i);
    if (__builtin_add_overflow(pad[2 * i], pad[2 * i + 1], &out[d]) ||
        __builtin_add_overflow(out[d], sizes[size_t(d)], &out[d]))
      fail(op, ": padding ", pad[2 * i], " and ", pad[2 * i + 1], " of a dimension of size ", sizes[size_t(d)],
           " overflows");
    if (out[d] < 0)
      fail(op, ": The input size ", sizes[size_t(d)], ", plus negative padding ", pad[2 * i], " and ", pad[2 * i + 1],
           " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
  }
  return out;
}

/// Up to three padded dims, those before them as one.
struct Edges {
  int64_t outer = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
  Mode mode;
  std::unique_ptr<int64_t[]> maps;  // of the three dims, one after the other: where an output index comes from

  Edges(IntList input, IntList output, IntList pad, Mode m) : mode(m) {
    const size_t n = pad.size() / 2, first = input.size() - n;
    for (size_t d = 0; d < first; ++d) outer *= input[d];
    for (size_t i = 0; i < n; ++i) {
      in[2 - i] = input[input.size() - 1 - i];
      out[2 - i] = output[input.size() - 1 - i];
      before[2 - i] = pad[2 * i];
      after[2 - i] = pad[2 * i + 1];
    }
    maps.reset(new int64_t[size_t(out[0] + out[1] + out[2])]);
    int64_t* at = maps.get();
    for (int d = 0; d < 3; ++d)
      for (int64_t i = 0; i < out[d]; ++i) *at++ = source(i - before[d], d);
  }
  int64_t source(int64_t j, int d) const {
    const int64_t n = in[d];
    switch (mode) {
      case Mode::Reflect:
        return j < 0 ? -j : j >= n ? 2 * (n - 1) - j : j;
      case Mode::Replicate:
        return std::clamp<int64_t>(j, 0, n - 1);
      case Mode::Circular:
        break;
    }
    // Negative padding cuts off first; what is left goes round.
    const int64_t cut = std::max<int64_t>(-before[d], 0), left = n - cut + std::min<int64_t>(after[d], 0);
    return cut + ((j - cut) % left + left) % left;
  }
  /// f(input element, output element, n) for runs of n elements that are all of the output: the middles of lines, and
  /// what stands before and after them one by one.
  template <class F>
  void each(F&& f) const {
    const int64_t *z = maps.get(), *y = z + out[0], *x = y + out[1];
    const int64_t first = std::clamp<int64_t>(before[2], 0, out[2]);
    const int64_t last = std::clamp<int64_t>(before[2] + in[2], first, out[2]);
    int64_t to = 0;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < out[0]; ++i)
        for (int64_t j = 0; j < out[1]; ++j, to += out[2]) {
          const int64_t line = ((o * in[0] + z[i]) * in[1] + y[j]) * in[2];
          for (int64_t k = 0; k < first; ++k) f(line + x[k], to + k, 1);
          if (first < last) f(line + x[first], to + first, last - first);
          for (int64_t k = last; k < out[2]; ++k) f(line + x[k], to + k, 1);
        }
  }
};

}  // namespace

namespace meta {

TensorRef constant_pad_nd(Tensor& self, IntList pad, const Scalar&) {
  return kernels::empty_images(padded_sizes("constant_pad_nd", self.sizes(), pad), self.dtype(), self.device(),
                               kernels::format_of(self));
}

TensorRef pad_edges(Tensor& input, IntList pad, std::string_view mode) {
  const Mode m = parse_mode(mode);
  const IntList sizes = input.sizes();
  const Dims out = padded_sizes("pad", sizes, pad);
  for (size_t i = 0; i < pad.size(); ++i) {
    const int64_t n = sizes[sizes.size() - 1 - i / 2];
    if (m == Mode::Reflect && pad[i] >= n && pad[i] > 0)
      fail("pad: Padding size should be less than the corresponding input dimension, but got: padding ", pad,
           " at dimension ", int64_t(sizes.size() - 1 - i / 2), " of input ", sizes);
    if (m == Mode::Circular && pad[i] > n) fail("pad: Padding value causes wrapping around more than once.");
    if (n == 0) fail("pad: Expected non-zero sizes in the padded dims, but got input of shape ", sizes);
    if (out[int(sizes.size() - 1 - i / 2)] == 0 && m != Mode::Replicate)
      fail("pad: Negative padding value is resulting in an empty dimension.");
  }
  const MemoryFormat format = m == Mode::Circular ? MemoryFormat::Contiguous : kernels::format_of(input);
  return kernels::empty_images(out, input.dtype(), input.device(), format);
}

TensorRef pad_edges_backward(Tensor& input, IntList input_sizes, IntList, std::string_view) {
  return empty(input_sizes, input.dtype(), input.device());
}

}  // namespace meta

namespace kernels {

void constant_pad_nd(Tensor& self, IntList pad, const Scalar& value, Tensor& out) {
  fill_into(out, value);
  Dims sizes(self.sizes());
  int64_t from = self.storage_offset(), to = out.storage_offset();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int d = sizes.n - 1 - int(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    sizes[d] = saturating_sum(saturating_sum(sizes[d], std::min<int64_t>(before, 0)), std::min<int64_t>(after, 0));
    if (sizes[d] <= 0) return;
    from += std::max<int64_t>(-before, 0) * self.strides()[size_t(d)];
    to += std::max<int64_t>(before, 0) * out.strides()[size_t(d)];
  }
  if (self.numel() == 0) return;
  TensorRef source = make_view(self, sizes, self.strides(), from), target = make_view(out, sizes, out.strides(), to);
  copy_into(*target, *source);
}

void pad_edges(Tensor& input, IntList pad, std::string_view mode, Tensor& out) {
  if (out.numel() == 0) return;
  const Edges edges(input.sizes(), out.sizes(), pad, parse_mode(mode));
  TensorRef x = contiguous(input);
  RowBuffer buffer(out, out.dim(), out.dtype());
  visit_bits(out.dtype(), [&]<class T>() {
    const T* from = x->data<T>();
    T* to = buffer.rows().data<T>();
    edges.each([&](int64_t i, int64_t o, int64_t n) {
      for (int64_t k = 0; k < n; ++k) to[o + k] = from[i + k];
    });
  });
  buffer.finish();
}

void pad_edges_backward(Tensor& input, IntList input_sizes, IntList pad, std::string_view mode, Tensor& out) {
  const DType compute = compute_of(out.dtype());
  RowBuffer buffer(out, out.dim(), compute);
  fill_into(buffer.rows(), Scalar(0));
  TensorRef g = dense_in(&input, compute);
  if (input.numel()) {
    const Edges edges(input_sizes, input.sizes(), pad, parse_mode(mode));
    visit(compute, [&]<class T>() {
      if constexpr (!is_half_type<T>) {
        const T* from = g->data<T>();
        T* to = buffer.rows().data<T>();
        edges.each([&](int64_t i, int64_t o, int64_t n) {
          for (int64_t k = 0; k < n; ++k) to[i + k] = add(to[i + k], from[o + k]);
        });
      }
    });
  }
  buffer.finish();
}

}  // namespace kernels
}  // namespace vivace
