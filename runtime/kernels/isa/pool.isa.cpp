// The loops of pool.h for one instruction set.
#include "runtime/kernels/isa/pool.h"

#include "runtime/kernels/isa/dots.h"

namespace vivace {
namespace {

/// Calls f.operator()<vectors>(first, elements left in the last vector) for blocks of n: several vectors at a time, so
/// that they don't wait for each other's sums.
template <class T, class F>
VIVACE_INLINE void each_block(int64_t n, F&& f) {
  constexpr int kVectors = 4, kN = lanes<T>;
  int64_t c = 0;
  for (; c + kVectors * kN <= n; c += kVectors * kN) f.template operator()<kVectors>(c, kN);
  for (; c + kN <= n; c += kN) f.template operator()<1>(c, kN);
  if (c < n) f.template operator()<1>(c, n - c);
}

template <class T>
void largest(const T* x, const int64_t* places, int64_t count, int64_t n, T* best, int64_t* index) {
  typedef Element<Index<T>> Lane;
  constexpr int kN = lanes<T>, kWide = lanes<int64_t>;
  typedef Lane narrow __attribute__((vector_size(sizeof(Lane) * kWide)));
  each_block<T>(n, [&]<int kVectors>(int64_t c, int64_t left) __attribute__((always_inline)) {
    Vec<T> top[kVectors];
    Index<T> at[kVectors];
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      top[v] = load(x + places[0] * n + c + v * kN, left);
      at[v] = splat(Lane(places[0]));
    }
    for (int64_t t = 1; t < count; ++t) {
      const T* pixel = x + places[t] * n + c;
      const Index<T> place = splat(Lane(places[t]));
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const Vec<T> element = load(pixel + v * kN, left);
        const auto wins = (element > top[v]) | (element != element);
        top[v] = where(wins, element, top[v]);
        at[v] = where(wins, place, at[v]);
      }
    }
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Lane lanes_of[kN];
      store(lanes_of, at[v]);
      store(best + c + v * kN, top[v], left);
      for (int64_t k = 0; k < left; k += kWide)
        store(index + c + v * kN + k, i64(__builtin_convertvector(load_full<narrow>(lanes_of + k), i64)), left - k);
    }
  });
}

template <class T>
void mean(const T* x, const int64_t* places, int64_t count, int64_t n, T divisor, T* out) {
  constexpr int kN = lanes<T>;
  constexpr int64_t kBlock = 64;  // elements that are added one after the other; sums of blocks lose fewer bits
  each_block<T>(n, [&]<int kVectors>(int64_t c, int64_t left) __attribute__((always_inline)) {
    Vec<T> total[kVectors] = {};
    for (int64_t t = 0; t < count;) {
      const int64_t end = count - t < kBlock ? count : t + kBlock;
      Vec<T> sum[kVectors] = {};
      for (; t < end; ++t) {
        const T* pixel = x + places[t] * n + c;
        VIVACE_UNROLL
        for (int v = 0; v < kVectors; ++v) sum[v] += load(pixel + v * kN, left);
      }
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) total[v] += sum[v];
    }
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) store(out + c + v * kN, Vec<T>(total[v] / divisor), left);
  });
}

template <class T>
void mixture(const T* x, const int64_t* places, const T* weights, const int64_t* rows, int64_t count, int64_t n,
             const T* start, T* out) {
  constexpr int kN = lanes<T>;
  each_block<T>(n, [&]<int kVectors>(int64_t c, int64_t left) __attribute__((always_inline)) {
    Vec<T> sum[kVectors];
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = start ? load(start + c + v * kN, left) : Vec<T>{};
    for (int64_t t = 0; t < count; ++t) {
      const T *pixel = x + places[t] * n + c, *row = weights + rows[t] * n + c;
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[v] = fma(load(pixel + v * kN, left), load(row + v * kN, left), sum[v]);
    }
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) store(out + c + v * kN, sum[v], left);
  });
}

template <class T>
void spread(const T* g, T divisor, const int64_t* places, int64_t count, int64_t channels, int64_t n, T* out) {
  constexpr int kN = lanes<T>;
  each_block<T>(n, [&]<int kVectors>(int64_t c, int64_t left) __attribute__((always_inline)) {
    Vec<T> share[kVectors];
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) share[v] = load(g + c + v * kN, left) / divisor;
    for (int64_t t = 0; t < count; ++t) {
      T* sums = out + places[t] * channels + c;
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) store(sums + v * kN, Vec<T>(load(sums + v * kN, left) + share[v]), left);
    }
  });
}

template <class T>
constexpr dense::PoolLoops<T> loops_of() {
  return {largest<T>, mean<T>, mixture<T>, spread<T>};
}

}  // namespace

namespace VIVACE_ISA {

extern const dense::PoolLoops<float> pool_float;
extern const dense::PoolLoops<double> pool_double;
constexpr dense::PoolLoops<float> pool_float = loops_of<float>();
constexpr dense::PoolLoops<double> pool_double = loops_of<double>();

}  // namespace VIVACE_ISA
}  // namespace vivace
