// torch.fft: sizes, norms and directions in terms of the three transforms.
#include <algorithm>
#include <cmath>

#include "generated/kernels/fft.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/fft.h"
#include "generated/ops/index/join.h"
#include "generated/ops/nn/pad.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/view/parts.h"

namespace vivace::composite {
namespace {

using Size = std::optional<int64_t>;
using Sizes = std::optional<IntList>;
using Norm = std::optional<std::string_view>;

constexpr int64_t kKeep = -1;  // in a list of sizes

/// Dims and the sizes that the signal has along them.
struct Signal {
  Dims dims, sizes;
};

void check_size(int64_t n) {
  if (n < 1) fail("Invalid number of data points (", n, ") specified");
}

Signal signal(const Tensor& t, Size n, int64_t dim) {
  if (t.dim() == 0) fail_index("Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, t.dim());
  return {Dims{d}, Dims{n.value_or(t.dims_[d])}};
}

Signal signal(const Tensor& t, Sizes s, Sizes dim) {
  Signal result;
  if (dim) {
    for (int64_t d : *dim) {
      if (t.dim() == 0) fail_index("Dimension specified as ", d, " but tensor has no dimensions");
      const int64_t wrapped = wrap_dim(d, t.dim());
      if (std::ranges::find(IntList(result.dims), wrapped) != IntList(result.dims).end())
        fail("FFT dims must be unique");
      result.dims.push(wrapped);
    }
    if (s && s->size() != dim->size()) fail("When given, dim and shape arguments must have the same length");
  } else {
    const int64_t n = s ? int64_t(s->size()) : t.dim();
    if (n > t.dim()) fail("Got shape with ", n, " values but input tensor only has ", t.dim(), " dimensions.");
    for (int64_t d = t.dim() - n; d < t.dim(); ++d) result.dims.push(d);
  }
  for (int i = 0; i < result.dims.n; ++i) {
    const int64_t own = t.dims_[result.dims[i]];
    result.sizes.push(s && (*s)[size_t(i)] != kKeep ? (*s)[size_t(i)] : own);
  }
  return result;
}

/// The product that an unscaled transform multiplies by on the way there and back, as `norm` wants it divided.
double scale_of(Norm norm, IntList sizes, bool forward) {
  const std::string_view mode = norm.value_or("backward");
  const double n = double(count(sizes));
  if (mode == "ortho") return 1 / std::sqrt(n);
  if (mode != "forward" && mode != "backward") fail("Invalid normalization mode: \"", mode, "\"");
  return (mode == "forward") == forward ? 1 / n : 1;
}

/// Cut or padded with zeros to the sizes.
TensorRef fitted(Tensor& t, const Signal& want) {
  TensorRef result = TensorRef::share(&t);
  Dims pad;
  pad.n = int(2 * t.dim());
  if (pad.n > kMaxDims) fail("FFT of more than ", kMaxDims / 2, " dims");
  std::fill(pad.begin(), pad.end(), 0);
  bool pads = false;
  for (int i = 0; i < want.dims.n; ++i) {
    const int64_t d = want.dims[i], have = t.dims_[d], n = want.sizes.v[i];
    check_size(n);
    if (n < have) result = ops::slice_Tensor(*result, d, 0, n, 1);
    if (n > have) {
      pad[int(2 * (t.dim() - 1 - d) + 1)] = n - have;
      pads = true;
    }
  }
  return pads ? ops::constant_pad_nd(*result, pad, Scalar(0)) : result;
}

TensorRef promoted(Tensor& t, bool to_complex) {
  if (is_half(t.dtype())) fail("Unsupported dtype ", scalar_type_name(t.dtype()));
  DType type = is_differentiable(t.dtype()) ? t.dtype() : default_dtype;
  if (to_complex) type = complex_of(type);
  return type == t.dtype() ? TensorRef::share(&t) : ops::to_dtype(t, type);
}

TensorRef complex_to_complex(Tensor& self, const Signal& want, Norm norm, bool forward) {
  const TensorRef input = fitted(*promoted(self, true), want);
  if (want.dims.n == 0) return input;
  return ops::_fft_c2c(*input, want.dims, scale_of(norm, want.sizes, forward), forward);
}

TensorRef real_to_complex(const char* name, Tensor& self, const Signal& want, Norm norm, bool forward) {
  if (is_complex(self.dtype()))
    fail(name, " expects a real", want.dims.n > 1 ? "-valued" : "", " input tensor, but got ",
         scalar_type_name(self.dtype()));
  if (want.dims.n == 0) fail(name, " must transform at least one axis");
  const TensorRef input = fitted(*promoted(self, false), want);
  const TensorRef half = ops::_fft_r2c(*input, want.dims, scale_of(norm, want.sizes, forward));
  return forward ? half : ops::conj(*half);
}

/// `last` is the size of the real line, or absent where it follows from the input's.
TensorRef complex_to_real(const char* name, Tensor& self, Signal want, Size last, Norm norm, bool forward) {
  if (want.dims.n == 0) fail(name, " must transform at least one axis");
  const int end = want.dims.n - 1;
  const int64_t n = last.value_or(2 * (self.dims_[want.dims[end]] - 1));
  check_size(n);
  want.sizes[end] = n;
  const double scale = scale_of(norm, want.sizes, forward);
  want.sizes[end] = n / 2 + 1;
  TensorRef input = fitted(*promoted(self, true), want);
  if (forward) input = ops::conj(*input);
  return ops::_fft_c2r(*input, want.dims, scale, n);
}

/// The last of the sizes that were asked for, if it was.
Size last_of(Sizes s) { return s && !s->empty() && s->back() != kKeep ? Size(s->back()) : std::nullopt; }

TensorRef rolled_by_half(Tensor& self, Sizes dim, bool up) {
  Dims dims, shifts;
  if (dim) {
    for (int64_t d : *dim) dims.push(wrap_dim(d, self.dim()));
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push(d);
  }
  for (int64_t d : dims) shifts.push((self.size(d) + (up ? 0 : 1)) / 2);
  return ops::roll(self, shifts, dims);
}

}  // namespace

TensorRef fft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return complex_to_complex(self, signal(self, n, dim), norm, true);
}
TensorRef fftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return complex_to_complex(self, signal(self, s, dim), norm, true);
}
TensorRef fft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return fftn(self, s, dim, norm); }

TensorRef ifft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return complex_to_complex(self, signal(self, n, dim), norm, false);
}
TensorRef ifftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return complex_to_complex(self, signal(self, s, dim), norm, false);
}
TensorRef ifft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return ifftn(self, s, dim, norm); }

TensorRef rfft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return real_to_complex("rfft", self, signal(self, n, dim), norm, true);
}
TensorRef rfftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return real_to_complex("rfftn", self, signal(self, s, dim), norm, true);
}
TensorRef rfft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return rfftn(self, s, dim, norm); }

TensorRef irfft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return complex_to_real("irfft", self, signal(self, n, dim), n, norm, false);
}
TensorRef irfftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return complex_to_real("irfftn", self, signal(self, s, dim), last_of(s), norm, false);
}
TensorRef irfft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return irfftn(self, s, dim, norm); }

TensorRef hfft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return complex_to_real("hfft", self, signal(self, n, dim), n, norm, true);
}
TensorRef hfftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return complex_to_real("hfftn", self, signal(self, s, dim), last_of(s), norm, true);
}
TensorRef hfft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return hfftn(self, s, dim, norm); }

TensorRef ihfft(Tensor& self, Size n, int64_t dim, Norm norm) {
  return real_to_complex("ihfft", self, signal(self, n, dim), norm, false);
}
TensorRef ihfftn(Tensor& self, Sizes s, Sizes dim, Norm norm) {
  return real_to_complex("ihfftn", self, signal(self, s, dim), norm, false);
}
TensorRef ihfft2(Tensor& self, Sizes s, IntList dim, Norm norm) { return ihfftn(self, s, dim, norm); }

TensorRef fftshift(Tensor& self, Sizes dim) { return rolled_by_half(self, dim, true); }
TensorRef ifftshift(Tensor& self, Sizes dim) { return rolled_by_half(self, dim, false); }

}  // namespace vivace::composite
