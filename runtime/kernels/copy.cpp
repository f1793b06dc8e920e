// Copies pick a way by layout and dtype: one memcpy, runs, transposing squares, or blocks that are converted.
#include "runtime/kernels/copy.h"

#include <cstring>

#include "generated/kernels/index/gather.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/loop/nest.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

const MoveLoops& move_loops() {
  static const MoveLoops& chosen = VIVACE_PICK(move_loops);
  return chosen;
}

namespace kernels {
namespace {

constexpr int64_t kGrain = 32768;      // elements that are worth a thread
constexpr int64_t kSmallFill = 1024;   // elements that are filled without a nest of loops
constexpr int64_t kBlockBytes = 4096;  // of the two buffers that a strided conversion goes through
constexpr int64_t kTile = 16;          // side of the squares that a transposing copy moves
constexpr int64_t kFewRows = 8;        // below it, rows are copied by themselves and not in squares
constexpr int64_t kPlane = 1024;       // short runs that are copied together, element by element

template <class To, class From>
void convert_loop(char* __restrict dst, const char* __restrict src, int64_t n) {
  To* __restrict to = reinterpret_cast<To*>(dst);
  const From* __restrict from = reinterpret_cast<const From*>(src);
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

/// The row or column of MoveLoops::plain; -1 for other types.
template <class T>
constexpr int kPlain = std::is_same_v<T, float>     ? int(kPlainFloat)
                       : std::is_same_v<T, double>  ? int(kPlainDouble)
                       : std::is_same_v<T, int32_t> ? int(kPlainInt32)
                       : std::is_same_v<T, int64_t> ? int(kPlainInt64)
                       : std::is_same_v<T, uint8_t> ? int(kPlainUInt8)
                                                    : -1;

template <class To, class From>
Convert loop_for();

/// Between a half type and another by way of float, block by block: both steps have vector loops.
template <class To, class From>
void convert_by_float(char* dst, const char* src, int64_t n) {
  constexpr int64_t kBlock = 512;
  float block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    loop_for<float, From>()(reinterpret_cast<char*>(block), src + i * int64_t(sizeof(From)), m);
    loop_for<To, float>()(dst + i * int64_t(sizeof(To)), reinterpret_cast<const char*>(block), m);
  }
}

/// The fastest loop between two types. A bool is read as the byte that it is.
template <class To, class From>
Convert loop_for() {
  constexpr int kTo = kPlain<To>, kFrom = kPlain<std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>>;
  if constexpr (std::is_same_v<From, float> && kIsHalf<To>)
    return std::is_same_v<To, Half> ? move_loops().to_half : move_loops().to_bfloat16;
  else if constexpr (std::is_same_v<To, float> && kIsHalf<From>)
    return std::is_same_v<From, Half> ? move_loops().from_half : move_loops().from_bfloat16;
  else if constexpr ((kIsHalf<To> || kIsHalf<From>) && !kIsComplex<To> && !kIsComplex<From>)
    return convert_by_float<To, From>;
  else if constexpr (std::is_same_v<To, bool> && !std::is_same_v<From, bool> && kFrom >= 0)
    return move_loops().to_bool[kFrom];
  else if constexpr (kTo >= 0 && kFrom >= 0 && kTo != kFrom)
    return move_loops().plain[kTo][kFrom];
  else
    return convert_loop<To, From>;
}

Convert find_convert(DType to, DType from) {
  return visit(to, [&]<class To>() -> Convert {
    return visit(from, []<class From>() -> Convert { return loop_for<To, From>(); });
  });
}

template <class T>
void move_run(char* dst, int64_t dst_step, const char* src, int64_t src_step, int64_t n) {
  if (dst_step == sizeof(T) && src_step == sizeof(T)) {
    std::memcpy(dst, src, size_t(n) * sizeof(T));
  } else if (dst_step == sizeof(T) && src_step == 0) {
    move_loops().fill(dst, src, sizeof(T), n * int64_t(sizeof(T)));
  } else if (dst_step == sizeof(T) && src_step == -int64_t(sizeof(T)) &&
             (sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8)) {
    (sizeof(T) == 1   ? move_loops().reverse1
     : sizeof(T) == 4 ? move_loops().reverse4
                      : move_loops().reverse8)(dst, src, n);
  } else if (dst_step == sizeof(T) && src_step == 2 * sizeof(T)) {  // a constant, of which the compiler makes shuffles
    T* __restrict to = reinterpret_cast<T*>(dst);
    const T* __restrict from = reinterpret_cast<const T*>(src);
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else if (dst_step == sizeof(T)) {
    T* to = reinterpret_cast<T*>(dst);
    for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(src + i * src_step);
  } else {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<T*>(dst + i * dst_step) = *reinterpret_cast<const T*>(src + i * src_step);
  }
}

/// Rows of dst are columns of src: squares keep both sides' cache lines busy.
template <class T>
void move_transposed(char* dst, const char* src, int64_t rows, int64_t columns, int64_t dst_row, int64_t src_column) {
  if constexpr (sizeof(T) == 4) return move_loops().transpose4(dst, dst_row, src, src_column, columns, rows);
  if constexpr (sizeof(T) == 8) return move_loops().transpose8(dst, dst_row, src, src_column, columns, rows);
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const int64_t c1 = std::min(columns, c0 + kTile);
      for (int64_t r = r0; r < r1; ++r) {
        T* to = reinterpret_cast<T*>(dst + r * dst_row);
        const char* from = src + r * int64_t(sizeof(T));
        for (int64_t c = c0; c < c1; ++c) to[c] = *reinterpret_cast<const T*>(from + c * src_column);
      }
    }
  }
}

/// Copies many runs of few elements by columns: the first elements of some runs, then the second ones.
template <class T>
void copy_short_runs(const Nest<2>& nest) {
  Nest<2> columns;
  columns.base[0] = nest.base[0];
  columns.base[1] = nest.base[1];
  for (int d = 1; d < nest.ndim; ++d) columns.push(nest.sizes[d], nest.strides[d]);
  const int64_t few = nest.sizes[0], dst_step = nest.strides[0][0], src_step = nest.strides[0][1];
  parallel_for(0, columns.runs(), std::max<int64_t>(1, kGrain / (few * columns.inner_size())),
               [&](int64_t begin, int64_t end) {
                 columns.for_runs(begin, end, [&](char** p, int64_t n, const int64_t* s) {
                   for (int64_t i = 0; i < n; i += kPlane)
                     for (int64_t k = 0; k < few; ++k)
                       move_run<T>(p[0] + i * s[0] + k * dst_step, s[0], p[1] + i * s[1] + k * src_step, s[1],
                                   std::min(kPlane, n - i));
                 });
               });
}

template <class T>
void copy_same_type(Nest<2>& nest) {
  constexpr int64_t kSize = sizeof(T);
  if (nest.ndim >= 2 && nest.strides[0][0] == kSize && nest.strides[0][1] != kSize && nest.numel >= kTile * kTile) {
    // Bring src's densest dim next to the innermost one.
    for (int d = 1; d < nest.ndim; ++d) {
      if (nest.strides[d][1] != kSize || nest.sizes[d] < kFewRows) continue;
      Nest<2> outer;
      outer.base[0] = nest.base[0];
      outer.base[1] = nest.base[1];
      for (int k = 1; k < nest.ndim; ++k)
        if (k != d) outer.push(nest.sizes[k], nest.strides[k]);
      const int64_t rows = nest.sizes[d], columns = nest.sizes[0];
      const int64_t dst_row = nest.strides[d][0], src_column = nest.strides[0][1];
      if (outer.ndim == 0) {
        return parallel_for(0, rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
          move_transposed<T>(nest.base[0] + begin * dst_row, nest.base[1] + begin * kSize, end - begin, columns,
                             dst_row, src_column);
        });
      }
      Nest<2> planes;  // one run per plane
      planes.base[0] = outer.base[0];
      planes.base[1] = outer.base[1];
      planes.ndim = outer.ndim + 1;
      planes.numel = outer.numel;
      planes.sizes[0] = 1;
      planes.strides[0][0] = planes.strides[0][1] = 0;
      for (int k = 0; k < outer.ndim; ++k) {
        planes.sizes[k + 1] = outer.sizes[k];
        planes.strides[k + 1][0] = outer.strides[k][0];
        planes.strides[k + 1][1] = outer.strides[k][1];
      }
      return parallel_for(0, planes.numel, std::max<int64_t>(1, kGrain / (rows * columns)),
                          [&](int64_t begin, int64_t end) {
                            planes.for_runs(begin, end, [&](char** p, int64_t, const int64_t*) {
                              move_transposed<T>(p[0], p[1], rows, columns, dst_row, src_column);
                            });
                          });
    }
  }
  if (nest.ndim <= 1) {  // one line: split it
    const int64_t *s = nest.inner_strides(), d0 = s[0], d1 = s[1];
    return parallel_for(0, nest.inner_size(), kGrain, [&](int64_t begin, int64_t end) {
      move_run<T>(nest.base[0] + begin * d0, d0, nest.base[1] + begin * d1, d1, end - begin);
    });
  }
  if (nest.inner_size() < kFewRows && nest.sizes[1] >= kFewRows) return copy_short_runs<T>(nest);
  parallel_for(0, nest.runs(), std::max<int64_t>(1, kGrain / nest.inner_size()), [&](int64_t begin, int64_t end) {
    nest.for_runs(begin, end, [](char** p, int64_t n, const int64_t* s) { move_run<T>(p[0], s[0], p[1], s[1], n); });
  });
}

using Move = void (*)(char* dst, int64_t dst_step, const char* src, int64_t src_step, int64_t n);
Move find_move(DType t) {
  return visit_bits(t, []<class T>() -> Move { return move_run<T>; });
}

struct Conversion {
  Convert convert;
  Move gather, scatter;
  int64_t src_size, dst_size;

  void run(char* dst, int64_t dst_step, const char* src, int64_t src_step, int64_t n) const {
    if (dst_step == dst_size && src_step == src_size) return convert(dst, src, n);
    alignas(64) char in[kBlockBytes], out[kBlockBytes];
    const int64_t block = kBlockBytes / std::max(src_size, dst_size);
    for (int64_t i = 0; i < n; i += block) {
      const int64_t m = std::min(block, n - i);
      const char* from = src + i * src_step;
      if (src_step != src_size) {
        gather(in, src_size, from, src_step, m);
        from = in;
      }
      if (dst_step == dst_size) {
        convert(dst + i * dst_size, from, m);
      } else {
        convert(out, from, m);
        scatter(dst + i * dst_step, dst_step, out, dst_size, m);
      }
    }
  }
};

void copy_converted(const Nest<2>& nest, DType to, DType from) {
  const Conversion c{find_convert(to, from), find_move(from), find_move(to), int64_t(item_size(from)),
                     int64_t(item_size(to))};
  if (nest.ndim <= 1) {
    const int64_t *s = nest.inner_strides(), d0 = s[0], d1 = s[1];
    return parallel_for(0, nest.inner_size(), kGrain, [&](int64_t begin, int64_t end) {
      c.run(nest.base[0] + begin * d0, d0, nest.base[1] + begin * d1, d1, end - begin);
    });
  }
  parallel_for(0, nest.runs(), std::max<int64_t>(1, kGrain / nest.inner_size()), [&](int64_t begin, int64_t end) {
    nest.for_runs(begin, end, [&](char** p, int64_t n, const int64_t* s) { c.run(p[0], s[0], p[1], s[1], n); });
  });
}

}  // namespace

void convert_run(DType to, char* dst, int64_t dst_step, DType from, const char* src, int64_t src_step, int64_t n) {
  if (to == from) return find_move(to)(dst, dst_step, src, src_step, n);
  const Conversion c{find_convert(to, from), find_move(from), find_move(to), int64_t(item_size(from)),
                     int64_t(item_size(to))};
  c.run(dst, dst_step, src, src_step, n);
}

void convert_block(DType to, char* dst, DType from, const char* src, int64_t n) {
  if (to == from)
    std::memcpy(dst, src, size_t(n) * item_size(to));
  else
    find_convert(to, from)(dst, src, n);
}

void copy_strided(Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0 || dst.is_meta()) return;
  if (dst.dtype() == src.dtype() && dst.numel() == src.numel() && dst.is_contiguous() && src.is_contiguous()) {
    const size_t nbytes = dst.nbytes();
    if (dst.raw() == src.raw()) return;
    if (nbytes < size_t(kGrain)) return void(std::memcpy(dst.raw(), src.raw(), nbytes));
    return parallel_for(0, int64_t(nbytes), 4 * kGrain, [&](int64_t begin, int64_t end) {
      std::memcpy(dst.raw() + begin, src.raw() + begin, size_t(end - begin));
    });
  }
  Nest<2> nest = make_nest<2>(dst.sizes(), {&dst, &src});
  if (dst.dtype() == src.dtype())
    visit_bits(dst.dtype(), [&]<class T>() { copy_same_type<T>(nest); });
  else
    copy_converted(nest, dst.dtype(), src.dtype());
}

void fill_strided(Tensor& dst, const Scalar& value) {
  if (dst.numel() == 0 || dst.is_meta()) return;
  alignas(16) char element[16];
  store_scalar(dst.dtype(), element, value);
  visit_bits(dst.dtype(), [&]<class T>() {
    const T x = *reinterpret_cast<const T*>(element);
    if (dst.row_major_ && dst.numel() <= kSmallFill) {
      std::fill_n(dst.data<T>(), dst.numel(), x);
      return;
    }
    const Nest<1> nest = make_nest<1>(dst.sizes(), {&dst});
    if (nest.ndim <= 1) {
      const int64_t step = nest.inner_strides()[0];
      return parallel_for(0, nest.inner_size(), kGrain, [&](int64_t begin, int64_t end) {
        move_run<T>(nest.base[0] + begin * step, step, reinterpret_cast<const char*>(&x), 0, end - begin);
      });
    }
    nest.run([&](char** p, int64_t n, const int64_t* s) {
      move_run<T>(p[0], s[0], reinterpret_cast<const char*>(&x), 0, n);
    });
  });
}

}  // namespace kernels
}  // namespace vivace
