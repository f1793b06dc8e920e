// Transforms of complex and real tensors along several dims, one dim after the other. Real lines of even length go
// through a complex transform of half the length.
#include <algorithm>
#include <new>

#include "generated/kernels/fft.h"
#include "runtime/kernels/fft_plan.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

using kernels::FftLanes;
using kernels::FftPlan;

constexpr int64_t kGrain = 16 * 1024;  // elements
constexpr int64_t kLongLine = 256;     // from here on lines that lanes share fit the cache better than a line a lane

template <class F>
void visit_precision(DType t, F&& f) {
  real_of(t) == DType::Float64 ? f.template operator()<double>() : f.template operator()<float>();
}

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n) : data_(static_cast<T*>(::operator new(size_t(n) * sizeof(T), kAlign))) {}
  ~Scratch() { ::operator delete(data_, kAlign); }
  Scratch(const Scratch&) = delete;
  T* get() { return data_; }

 private:
  static constexpr std::align_val_t kAlign{64};
  T* data_;
};

template <class T>
std::shared_ptr<const FftPlan<T>> plan_for(int64_t lines, int64_t length) {
  const bool shares = length >= kLongLine || 2 * lines < dense::fft_loops<T>().lanes;
  return kernels::fft_plan<T>(length, shares ? FftLanes::Parts : FftLanes::Lines);
}

/// Calls work(first line, how many, buffer, scratch) for blocks of lines over threads; the buffer has room for `room`
/// elements a line.
template <class T, class F>
void over_blocks(int64_t lines, const FftPlan<T>& plan, int64_t room, F&& work) {
  const int64_t block = plan.block();
  const int64_t grain = std::max<int64_t>(1, kGrain / (block * plan.length()));
  parallel_for(0, (lines + block - 1) / block, grain, [&](int64_t begin, int64_t end) {
    Scratch<T> memory(plan.scratch() + block * room);
    for (int64_t line = begin * block; line < std::min(end * block, lines); line += block)
      work(line, std::min(block, lines - line), memory.get() + plan.scratch(), memory.get());
  });
}

/// Contiguous complex lines; may be in place.
template <class T>
void transform_rows(const T* from, T* to, int64_t lines, int64_t n, bool is_inverse, T scale) {
  const auto plan = plan_for<T>(lines, n);
  over_blocks<T>(lines, *plan, 0, [&](int64_t line, int64_t count, T*, T* scratch) {
    plan->run(from + line * 2 * n, 2 * n, to + line * 2 * n, 2 * n, count, is_inverse, scale, scratch);
  });
}

/// Complex lines across the rows of `outer` matrices with n rows and `inner` columns; may be in place.
template <class T>
void transform_columns(const FftPlan<T>& plan, const T* from, T* to, int64_t outer, int64_t inner, bool is_inverse,
                       T scale) {
  const int64_t n = plan.length(), block = plan.block(), blocks = (inner + block - 1) / block;
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kGrain / (block * n)), [&](int64_t begin, int64_t end) {
    Scratch<T> memory(plan.scratch());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * block, at = 2 * (i / blocks * n * inner + first);
      plan.run_columns(from + at, to + at, inner, std::min(block, inner - first), is_inverse, scale, memory.get());
    }
  });
}

/// to = scale * transform of from, of complex tensors of the same sizes; they may be the same.
template <class T>
void transform(Tensor& from, Tensor& to, int64_t dim, T scale, bool forward) {
  const int64_t n = to.sizes()[size_t(dim)];
  if (to.numel() == 0) return;
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < to.dim(); ++d) inner *= to.sizes()[size_t(d)];
  if (2 * inner >= dense::fft_loops<T>().lanes && to.is_contiguous()) {
    const auto plan = kernels::fft_plan<T>(n, FftLanes::Lines);
    if (plan->has_columns()) {
      const TensorRef dense = contiguous(from);
      return transform_columns<T>(*plan, dense->data<T>(), to.data<T>(), to.numel() / (n * inner), inner, !forward,
                                  scale);
    }
  }
  const TensorRef rows = kernels::as_rows(from, dim, from.dtype());
  kernels::RowBuffer out(to, dim, to.dtype());
  transform_rows<T>(rows->data<T>(), out.rows().data<T>(), to.numel() / n, n, !forward, scale);
  out.finish();
}

/// The first n / 2 + 1 elements of the transform of real rows.
template <class T>
void real_rows(const T* from, T* to, int64_t lines, int64_t n, T scale) {
  const int64_t half = n / 2, step = 2 * (half + 1);
  if (n % 2 == 0) {
    const auto plan = plan_for<T>(lines, half);
    const auto roots = kernels::real_roots<T>(half);
    return over_blocks<T>(lines, *plan, 0, [&](int64_t line, int64_t count, T*, T* scratch) {
      // Even elements are the real parts, odd ones the imaginary parts.
      plan->run(from + line * n, n, to + line * step, step, count, false, scale, scratch);
      for (int64_t i = line; i < line + count; ++i) dense::fft_loops<T>().untangle(to + i * step, half, roots->data());
    });
  }
  const auto plan = plan_for<T>(lines, n);
  over_blocks<T>(lines, *plan, 2 * n, [&](int64_t line, int64_t count, T* x, T* scratch) {
    for (int64_t k = 0; k < count * n; ++k) x[2 * k] = from[line * n + k], x[2 * k + 1] = 0;
    plan->run(x, 2 * n, x, 2 * n, count, false, scale, scratch);
    for (int64_t i = 0; i < count; ++i) std::copy_n(x + i * 2 * n, step, to + (line + i) * step);
  });
}

/// Real rows of n elements from the first half of their transform; what symmetry says of the imaginary parts at its
/// ends is taken as given.
template <class T>
void rows_to_real(const T* from, int64_t step, T* to, int64_t lines, int64_t n, T scale) {
  const int64_t half = n / 2;
  if (n % 2 == 0) {
    const auto plan = plan_for<T>(lines, half);
    const auto roots = kernels::real_roots<T>(half);
    return over_blocks<T>(lines, *plan, n, [&](int64_t line, int64_t count, T* x, T* scratch) {
      for (int64_t i = 0; i < count; ++i)
        dense::fft_loops<T>().tangle(from + (line + i) * step, x + i * n, half, roots->data());
      plan->run(x, n, to + line * n, n, count, true, scale, scratch);
    });
  }
  const auto plan = plan_for<T>(lines, n);
  over_blocks<T>(lines, *plan, 2 * n, [&](int64_t line, int64_t count, T* x, T* scratch) {
    for (int64_t i = 0; i < count; ++i) {
      const T* source = from + (line + i) * step;
      T* target = x + i * 2 * n;
      target[0] = source[0], target[1] = 0;
      for (int64_t k = 1; k <= half; ++k) {
        target[2 * k] = target[2 * (n - k)] = source[2 * k];
        target[2 * k + 1] = source[2 * k + 1], target[2 * (n - k) + 1] = -source[2 * k + 1];
      }
    }
    plan->run(x, 2 * n, x, 2 * n, count, true, scale, scratch);
    for (int64_t k = 0; k < count * n; ++k) to[line * n + k] = x[2 * k];
  });
}

}  // namespace

namespace meta {

TensorRef _fft_c2c(Tensor& self, IntList, double, bool) { return empty(self.sizes(), self.dtype(), self.device()); }
TensorRef _fft_r2c(Tensor& self, IntList dim, double) {
  Dims sizes(self.sizes());
  sizes[int(dim.back())] = sizes[int(dim.back())] / 2 + 1;
  return empty(sizes, complex_of(self.dtype()), self.device());
}
TensorRef _fft_c2r(Tensor& self, IntList dim, double, int64_t last_size) {
  Dims sizes(self.sizes());
  sizes[int(dim.back())] = last_size;
  return empty(sizes, real_of(self.dtype()), self.device());
}

}  // namespace meta

namespace kernels {

void _fft_c2c(Tensor& self, IntList dim, double scale, bool forward, Tensor& out) {
  if (dim.empty()) return copy_into(out, self);
  visit_precision(self.dtype(), [&]<class T>() {
    Tensor* from = &self;
    for (size_t i = dim.size(); i-- > 0; from = &out) transform<T>(*from, out, dim[i], i ? T(1) : T(scale), forward);
  });
}

void _fft_r2c(Tensor& self, IntList dim, double scale, Tensor& out) {
  if (out.numel() == 0) return;
  visit_precision(self.dtype(), [&]<class T>() {
    const int64_t n = self.sizes()[size_t(dim.back())];
    const TensorRef from = as_rows(self, dim.back(), self.dtype());
    RowBuffer to(out, dim.back(), out.dtype());
    real_rows<T>(from->data<T>(), to.rows().data<T>(), self.numel() / n, n, T(scale));
    to.finish();
    for (size_t i = dim.size() - 1; i-- > 0;) transform<T>(out, out, dim[i], T(1), true);
  });
}

void _fft_c2r(Tensor& self, IntList dim, double scale, int64_t n, Tensor& out) {
  if (out.numel() == 0) return;
  visit_precision(self.dtype(), [&]<class T>() {
    TensorRef from = TensorRef::share(&self);
    if (dim.size() > 1) {
      from = vivace::empty(self.sizes(), self.dtype());
      for (size_t i = 0; i + 1 < dim.size(); ++i) transform<T>(i ? *from : self, *from, dim[i], T(1), false);
    }
    from = as_rows(*from, dim.back(), from->dtype());
    RowBuffer to(out, dim.back(), out.dtype());
    rows_to_real<T>(from->data<T>(), 2 * from->sizes().back(), to.rows().data<T>(), out.numel() / n, n, T(scale));
    to.finish();
  });
}

}  // namespace kernels
}  // namespace vivace
