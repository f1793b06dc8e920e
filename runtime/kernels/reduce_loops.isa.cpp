// The loops of reduce_loops.h for one instruction set.
#include "runtime/kernels/reduce_loops.h"

#include "runtime/simd/vec.h"

namespace vivace {
namespace {

constexpr int64_t kBlock = kShortRow;  // elements of a run that are added up in their own type
constexpr int64_t kRows = 64;          // rows likewise
constexpr int64_t kMomentRows = 32;    // rows of a block that is read twice
constexpr int64_t kMomentColumns = 128;

template <Fold kFold>
constexpr bool kAdds =
    kFold == Fold::Sum || kFold == Fold::Squares || kFold == Fold::Magnitudes || kFold == Fold::SumOfNumbers;
template <Fold kFold>
constexpr bool kLargest = kFold == Fold::Max || kFold == Fold::MaxMagnitude;

VIVACE_INLINE float magnitude(float x) { return x < 0 ? -x : x + 0.0f; }
VIVACE_INLINE double magnitude(double x) { return x < 0 ? -x : x + 0.0; }
VIVACE_INLINE f32 magnitude(f32 x) { return abs(x); }
VIVACE_INLINE f64 magnitude(f64 x) { return abs(x); }

/// x, or 0 where it is none.
VIVACE_INLINE float number(float x) { return x == x ? x : 0; }
VIVACE_INLINE double number(double x) { return x == x ? x : 0; }
VIVACE_INLINE f32 number(f32 x) { return where(x == x, x, f32{}); }
VIVACE_INLINE f64 number(f64 x) { return where(x == x, x, f64{}); }

/// What an element counts as.
template <Fold kFold, class V>
VIVACE_INLINE V mapped(V x) {
  if constexpr (kFold == Fold::Squares)
    return x * x;
  else if constexpr (kFold == Fold::Magnitudes || kFold == Fold::MaxMagnitude || kFold == Fold::MinMagnitude)
    return magnitude(x);
  else if constexpr (kFold == Fold::SumOfNumbers)
    return number(x);
  else
    return x;
}
template <class T>
VIVACE_INLINE T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
VIVACE_INLINE T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
VIVACE_INLINE f32 larger(f32 a, f32 b) { return maximum(a, b); }
VIVACE_INLINE f64 larger(f64 a, f64 b) { return maximum(a, b); }
VIVACE_INLINE f32 smaller(f32 a, f32 b) { return minimum(a, b); }
VIVACE_INLINE f64 smaller(f64 a, f64 b) { return minimum(a, b); }

/// Joins two partial results.
template <Fold kFold, class V>
VIVACE_INLINE V joined(V a, V b) {
  if constexpr (kAdds<kFold>)
    return a + b;
  else if constexpr (kFold == Fold::Product)
    return a * b;
  else if constexpr (kLargest<kFold>)
    return larger(a, b);
  else
    return smaller(a, b);
}

template <Fold kFold, class T>
VIVACE_INLINE T across(Vec<T> v) {
  for (int width = lanes<T> / 2; width > 0; width /= 2) {
    Index<T> other{};
    for (int l = 0; l < lanes<T>; ++l) other[l] = (l + width) % lanes<T>;
    v = joined<kFold>(v, Vec<T>(__builtin_shuffle(v, other)));
  }
  return v[0];
}

/// 0 < n <= kBlock elements, in their own type.
template <Fold kFold, class T>
VIVACE_INLINE T block_total(const T* p, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = lanes<T>;
  if (n < kL) {
    if constexpr (kAdds<kFold> && kL > 4) {
      if (n > 4) return across<kFold, T>(mapped<kFold>(V(load_part(p, n))));
    }
    T total = mapped<kFold>(p[0]);
    for (int64_t i = 1; i < n; ++i) total = joined<kFold>(total, mapped<kFold>(p[i]));
    return total;
  }
  V a = mapped<kFold>(load(p));
  int64_t i = kL;
  if (n >= 4 * kL) {
    V b = mapped<kFold>(load(p + kL)), c = mapped<kFold>(load(p + 2 * kL)), d = mapped<kFold>(load(p + 3 * kL));
    for (i = 4 * kL; i + 4 * kL <= n; i += 4 * kL) {
      a = joined<kFold>(a, mapped<kFold>(load(p + i)));
      b = joined<kFold>(b, mapped<kFold>(load(p + i + kL)));
      c = joined<kFold>(c, mapped<kFold>(load(p + i + 2 * kL)));
      d = joined<kFold>(d, mapped<kFold>(load(p + i + 3 * kL)));
    }
    a = joined<kFold>(joined<kFold>(a, b), joined<kFold>(c, d));
  }
  for (; i + kL <= n; i += kL) a = joined<kFold>(a, mapped<kFold>(load(p + i)));
  if constexpr (kAdds<kFold>) {
    if constexpr (kL > 4) {
      if (i < n) a = a + mapped<kFold>(V(load_part(p + i, n - i)));
      return across<kFold, T>(a);
    }
    T total = across<kFold, T>(a);
    for (; i < n; ++i) total += mapped<kFold>(p[i]);
    return total;
  } else if constexpr (kFold == Fold::Product) {
    T total = across<kFold, T>(a);
    for (; i < n; ++i) total *= p[i];
    return total;
  } else {
    if (i < n) a = joined<kFold>(a, mapped<kFold>(load(p + n - kL)));  // elements may count twice
    return across<kFold, T>(a);
  }
}

template <Fold kFold, class T>
double inner(const T* p, int64_t n) {
  double total = block_total<kFold>(p, n < kBlock ? n : kBlock);
  for (int64_t i = kBlock; i < n; i += kBlock)
    total = joined<kFold>(total, double(block_total<kFold>(p + i, n - i < kBlock ? n - i : kBlock)));
  return total;
}

template <Fold kFold, class T>
void short_rows(const T* p, int64_t rows, int64_t step, int64_t n, double* totals) {
  for (int64_t r = 0; r < rows; ++r) totals[r] = block_total<kFold>(p + r * step, n);
}

/// Folds at most kRows rows of kVectors vectors (the last of them `left` lanes) into totals.
template <Fold kFold, int kVectors, class T>
VIVACE_INLINE void tile(const T* p, int64_t rows, int64_t step, int64_t left, double* totals) {
  constexpr int64_t kL = lanes<T>;
  Vec<T> sums[kVectors];
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k)
    sums[k] = mapped<kFold>(k + 1 < kVectors ? load(p + k * kL) : load(p + k * kL, left));
  for (int64_t r = 1; r < rows; ++r) {
    const T* row = p + r * step;
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k)
      sums[k] = joined<kFold>(sums[k], mapped<kFold>(k + 1 < kVectors ? load(row + k * kL) : load(row + k * kL, left)));
  }
  alignas(64) T part[kVectors * kL];
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) store(part + k * kL, sums[k]);
  const int64_t n = (kVectors - 1) * kL + left;
  typedef T narrow __attribute__((vector_size(sizeof(T) * lanes<double>)));
  int64_t i = 0;
  for (; i + lanes<double> <= n; i += lanes<double>)
    store(totals + i, joined<kFold>(load(totals + i), __builtin_convertvector(load_full<narrow>(part + i), f64)));
  for (; i < n; ++i) totals[i] = joined<kFold>(totals[i], double(part[i]));
}

template <Fold kFold, class T>
void outer(const T* p, int64_t rows, int64_t step, int64_t columns, double* totals) {
  constexpr int64_t kL = lanes<T>;
  for (int64_t r = 0; r < rows; r += kRows) {
    const int64_t m = rows - r < kRows ? rows - r : kRows;
    const T* top = p + r * step;
    int64_t c = 0;
    for (; c + 8 * kL <= columns; c += 8 * kL) tile<kFold, 8>(top + c, m, step, kL, totals + c);
    for (; c + 4 * kL < columns; c += 4 * kL) tile<kFold, 4>(top + c, m, step, kL, totals + c);
    const int64_t left = columns - c;
    if (left > 3 * kL)
      tile<kFold, 4>(top + c, m, step, left - 3 * kL, totals + c);
    else if (left > 2 * kL)
      tile<kFold, 3>(top + c, m, step, left - 2 * kL, totals + c);
    else if (left > kL)
      tile<kFold, 2>(top + c, m, step, left - kL, totals + c);
    else if (left > 0)
      tile<kFold, 1>(top + c, m, step, left, totals + c);
  }
}

/// Whether squares of T added up to this may have left its range, though the deviation itself has not.
template <class T>
VIVACE_INLINE bool out_of_range(double squares) {
  return sizeof(T) == 4 && !(squares >= 1e-30 && squares <= 3e38);
}
template <class T>
Moments double_moments(const T* p, int64_t n, int64_t step) {
  Moments block;
  block.count = double(n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double(p[i * step]);
  block.mean = sum / double(n);
  for (int64_t i = 0; i < n; ++i) {
    const double d = double(p[i * step]) - block.mean;
    block.m2 += d * d;
  }
  return block;
}

/// Differences from a number close to the mean make the squares small; what it misses the mean by is corrected exactly.
template <class T>
Moments inner_moments(const T* p, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = lanes<T>;
  Moments total;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t m = n - b < kBlock ? n - b : kBlock;
    const T* q = p + b;
    const T shift = T(double(block_total<Fold::Sum>(q, m)) / double(m));
    const V s = splat(shift);
    V first{}, second{};
    int64_t i = 0;
    for (; i + kL <= m; i += kL) {
      const V d = load(q + i) - s;
      first += d;
      second += d * d;
    }
    double sum = double(across<Fold::Sum, T>(first)), squares = double(across<Fold::Sum, T>(second));
    for (; i < m; ++i) {
      const double d = double(q[i]) - double(shift);
      sum += d;
      squares += d * d;
    }
    Moments block;
    block.count = double(m);
    block.mean = double(shift) + sum / double(m);
    block.m2 = squares - sum * sum / double(m);
    if (block.m2 < 0) block.m2 = 0;
    total.merge(out_of_range<T>(squares) ? double_moments(q, m, 1) : block);
  }
  return total;
}

template <class T>
void outer_moments(const T* p, int64_t rows, int64_t step, int64_t columns, Moments* totals) {
  for (int64_t c = 0; c < columns; c += kMomentColumns) {
    const int64_t w = columns - c < kMomentColumns ? columns - c : kMomentColumns;
    for (int64_t r = 0; r < rows; r += kMomentRows) {
      const int64_t m = rows - r < kMomentRows ? rows - r : kMomentRows;
      const T* top = p + r * step + c;
      T shift[kMomentColumns], first[kMomentColumns], second[kMomentColumns];
      for (int64_t k = 0; k < w; ++k) shift[k] = 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t k = 0; k < w; ++k) shift[k] += top[i * step + k];
      for (int64_t k = 0; k < w; ++k) {
        shift[k] /= T(m);
        first[k] = second[k] = 0;
      }
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t k = 0; k < w; ++k) {
          const T d = top[i * step + k] - shift[k];
          first[k] += d;
          second[k] += d * d;
        }
      }
      for (int64_t k = 0; k < w; ++k) {
        Moments block;
        block.count = double(m);
        block.mean = double(shift[k]) + double(first[k]) / double(m);
        block.m2 = double(second[k]) - double(first[k]) * double(first[k]) / double(m);
        if (block.m2 < 0) block.m2 = 0;
        totals[c + k].merge(out_of_range<T>(double(second[k])) ? double_moments(top + k, m, step) : block);
      }
    }
  }
}

/// The first index of `value` in a block that holds it; of the first NaN if it is NaN.
template <class T>
VIVACE_INLINE int64_t find(const T* p, int64_t n, T value) {
  constexpr int64_t kL = lanes<T>;
  const Vec<T> wanted = splat(value);
  int64_t i = 0;
  if (value == value) {
    for (; i + kL <= n; i += kL)
      if (any(load(p + i) == wanted)) break;
    while (p[i] != value) ++i;
  } else {
    while (p[i] == p[i]) ++i;
  }
  return i;
}

template <Fold kFold, class T>
int64_t arg(const T* p, int64_t n) {
  int64_t at = 0;
  T best = p[0];
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t m = n - b < kBlock ? n - b : kBlock;
    const T value = block_total<kFold>(p + b, m);
    if (b > 0 && !(kFold == Fold::Max ? value > best : value < best) && value == value) continue;
    best = value;
    at = b + find(p + b, m, value);
    if (value != value) break;
  }
  return at;
}

VIVACE_INLINE int64_t joined_integers(Fold fold, int64_t a, int64_t b) {
  if (fold == Fold::Sum) return int64_t(uint64_t(a) + uint64_t(b));
  if (fold == Fold::Product) return int64_t(uint64_t(a) * uint64_t(b));
  return (fold == Fold::Max ? a > b : a < b) ? a : b;
}
template <Fold kFold>
VIVACE_INLINE i64 joined_integers(i64 a, i64 b) {
  if constexpr (kFold == Fold::Sum)
    return add(a, b);
  else if constexpr (kFold == Fold::Product)
    return mul(a, b);
  else
    return kFold == Fold::Max ? maximum(a, b) : minimum(a, b);
}
template <Fold kFold>
int64_t inner_integers(const int64_t* p, int64_t n, int64_t total) {
  constexpr int64_t kL = lanes<int64_t>;
  constexpr auto join = joined_integers<kFold>;
  int64_t i = 0;
  if (n >= 4 * kL) {
    i64 a = load(p), b = load(p + kL), c = load(p + 2 * kL), d = load(p + 3 * kL);
    for (i = 4 * kL; i + 4 * kL <= n; i += 4 * kL) {
      a = join(a, load(p + i));
      b = join(b, load(p + i + kL));
      c = join(c, load(p + i + 2 * kL));
      d = join(d, load(p + i + 3 * kL));
    }
    a = join(join(a, b), join(c, d));
    for (int l = 0; l < kL; ++l) total = joined_integers(kFold, total, a[l]);
  }
  for (; i < n; ++i) total = joined_integers(kFold, total, p[i]);
  return total;
}
template <Fold kFold>
void outer_integers(const int64_t* p, int64_t rows, int64_t step, int64_t columns, int64_t* __restrict totals) {
  constexpr int kVectors = 8;
  constexpr int64_t kL = lanes<int64_t>;
  int64_t c = 0;
  for (; c + kVectors * kL <= columns; c += kVectors * kL) {
    i64 sums[kVectors];
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) sums[k] = load(totals + c + k * kL);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t* row = p + r * step + c;
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) sums[k] = joined_integers<kFold>(sums[k], load(row + k * kL));
    }
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) store(totals + c + k * kL, sums[k]);
  }
  for (; c < columns; c += kL) {
    const int64_t left = columns - c;
    i64 sum = load(totals + c, left);
    for (int64_t r = 0; r < rows; ++r) sum = joined_integers<kFold>(sum, load(p + r * step + c, left));
    store(totals + c, sum, left);
  }
}
template <Fold kFold>
constexpr IntReduceLoops integer_loops() {
  return {inner_integers<kFold>, outer_integers<kFold>};
}

template <class T>
constexpr ReduceLoopsOf<T> loops_of() {
  return {
      {inner<Fold::Sum, T>, inner<Fold::Squares, T>, inner<Fold::Magnitudes, T>, inner<Fold::Product, T>,
       inner<Fold::Max, T>, inner<Fold::Min, T>, inner<Fold::MaxMagnitude, T>, inner<Fold::MinMagnitude, T>,
       inner<Fold::SumOfNumbers, T>},
      {short_rows<Fold::Sum, T>, short_rows<Fold::Squares, T>, short_rows<Fold::Magnitudes, T>,
       short_rows<Fold::Product, T>, short_rows<Fold::Max, T>, short_rows<Fold::Min, T>,
       short_rows<Fold::MaxMagnitude, T>, short_rows<Fold::MinMagnitude, T>, short_rows<Fold::SumOfNumbers, T>},
      {outer<Fold::Sum, T>, outer<Fold::Squares, T>, outer<Fold::Magnitudes, T>, outer<Fold::Product, T>,
       outer<Fold::Max, T>, outer<Fold::Min, T>, outer<Fold::MaxMagnitude, T>, outer<Fold::MinMagnitude, T>,
       outer<Fold::SumOfNumbers, T>},
      inner_moments<T>,
      outer_moments<T>,
      arg<Fold::Max, T>,
      arg<Fold::Min, T>,
  };
}

}  // namespace

namespace VIVACE_ISA {
extern const ReduceLoops reduce_loops;
const ReduceLoops reduce_loops = {loops_of<float>(),          loops_of<double>(),
                                  integer_loops<Fold::Sum>(), integer_loops<Fold::Product>(),
                                  integer_loops<Fold::Max>(), integer_loops<Fold::Min>()};
}  // namespace VIVACE_ISA

}  // namespace vivace
