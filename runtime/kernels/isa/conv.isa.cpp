// The loops of conv.h for one instruction set: sums stay in registers, as many as the set has.
#include "runtime/kernels/isa/conv.h"

#include "runtime/kernels/isa/dots.h"

namespace vivace {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kRows = 8;  // of 32 registers
#else
constexpr int kRows = 4;  // of 16
#endif
/// Vectors of a tile: rows * vectors sums and one vector of input each fill the registers.
constexpr int kVectors = 6;
constexpr int vectors_for(int rows) { return rows == kRows ? 3 : kVectors; }

template <class T, int kR, int kV>
VIVACE_INLINE void tile_part(const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets, int64_t taps,
                             const T* weights, const T* bias, T* out, int64_t out_step) {
  constexpr int kN = lanes<T>;
  Vec<T> sum[kR][kV];
  VIVACE_UNROLL
  for (int r = 0; r < kR; ++r) VIVACE_UNROLL
  for (int v = 0; v < kV; ++v) sum[r][v] = bias ? splat(bias[r]) : Vec<T>{};
  for (int64_t c = 0; c < channels; ++c, in += channel_step)
    for (int64_t t = 0; t < taps; ++t, weights += kR) {
      const T* p = in + offsets[t];
      Vec<T> x[kV];
      VIVACE_UNROLL
      for (int v = 0; v < kV; ++v) x[v] = load(p + v * kN);
      VIVACE_UNROLL
      for (int r = 0; r < kR; ++r) {
        const Vec<T> w = splat(weights[r]);
        VIVACE_UNROLL
        for (int v = 0; v < kV; ++v) sum[r][v] = fma(x[v], w, sum[r][v]);
      }
    }
  VIVACE_UNROLL
  for (int r = 0; r < kR; ++r) VIVACE_UNROLL
  for (int v = 0; v < kV; ++v) store(out + r * out_step + v * kN, sum[r][v]);
}

/// Steps of kV vectors, then of fewer until n positions are done.
template <class T, int kR, int kV>
VIVACE_INLINE void tile_rows(int64_t n, const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets,
                             int64_t taps, const T* weights, const T* bias, T* out, int64_t out_step) {
  constexpr int64_t kStep = kV * lanes<T>;
  // A single row of sums waits for the units, so that vectors it does not need cost nothing.
  constexpr int64_t kEnough = kV == 1 ? 1 : kR == 1 ? kStep / 2 + 1 : kStep - lanes<T> + 1;
  for (; n >= kEnough; n -= kStep, in += kStep, out += kStep)
    tile_part<T, kR, kV>(in, channels, channel_step, offsets, taps, weights, bias, out, out_step);
  if constexpr (kV > 1)
    if (n > 0) tile_rows<T, kR, kV / 2>(n, in, channels, channel_step, offsets, taps, weights, bias, out, out_step);
}

template <class T, int kR>
[[gnu::noinline]] void tile_of(int64_t n, const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets,
                               int64_t taps, const T* weights, const T* bias, T* out, int64_t out_step) {
  tile_rows<T, kR, vectors_for(kR)>(n, in, channels, channel_step, offsets, taps, weights, bias, out, out_step);
}

template <class T>
void tile(int rows, int64_t n, const T* in, int64_t channels, int64_t channel_step, const int64_t* offsets,
          int64_t taps, const T* weights, const T* bias, T* out, int64_t out_step) {
  const auto run = rows == 1   ? tile_of<T, 1>
                   : rows == 2 ? tile_of<T, 2>
                   : rows == 4 ? tile_of<T, 4>
                               : tile_of<T, kRows>;
  run(n, in, channels, channel_step, offsets, taps, weights, bias, out, out_step);
}

template <class T, int kR>
[[gnu::noinline]] void dots_of(int64_t n, const T* a, int64_t a_step, const T* b, const int64_t* offsets,
                               int64_t columns, T* sums, int64_t sums_step) {
  column_blocks(columns, [&]<int kC>(int64_t first) {
    const T* column[kC];
    for (int k = 0; k < kC; ++k) column[k] = b + offsets[first + k];
    dot_tile<T, kR, kC>(n, a, a_step, column, [&](int r, int k, T sum) { sums[r * sums_step + first + k] += sum; });
  });
}

template <class T>
void dots(int rows, int64_t n, const T* a, int64_t a_step, const T* b, const int64_t* offsets, int64_t columns, T* sums,
          int64_t sums_step) {
  const auto run = rows == 1 ? dots_of<T, 1> : rows == 2 ? dots_of<T, 2> : dots_of<T, kDotRows>;
  run(n, a, a_step, b, offsets, columns, sums, sums_step);
}

template <class T>
void largest(int64_t n, const T* in, const int64_t* offsets, const dense::Lane<T>* places, int64_t taps, T* out,
             dense::Lane<T>* place) {
  for (int64_t p = 0; p < n; p += lanes<T>) {
    Vec<T> best = load(in + offsets[0] + p);
    Index<T> at = splat(places[0]);
    for (int64_t t = 1; t < taps; ++t) {
      const Vec<T> x = load(in + offsets[t] + p);
      const auto wins = (x > best) | (x != x);
      best = where(wins, x, best);
      at = where(wins, splat(places[t]), at);
    }
    store(out + p, best);
    store(place + p, at);
  }
}

template <class T>
bool give(int64_t n, const T* best, const dense::Lane<T>* place, int64_t first, int64_t step, T* out, int64_t* index) {
  constexpr T kLeast = -T(__builtin_inf());
  bool has_least = false;
  for (int64_t k = 0; k < n; k += lanes<T>) {
    const Vec<T> x = load(best + k, n - k);
    has_least |= any(x == kLeast);
    store(out + k, x, n - k);
  }
  constexpr int kWide = lanes<int64_t>;
  typedef dense::Lane<T> narrow __attribute__((vector_size(sizeof(dense::Lane<T>) * kWide)));
  i64 base;
  for (int l = 0; l < kWide; ++l) base[l] = first + l * step;
  for (int64_t k = 0; k < n; k += kWide, base += kWide * step)
    store(index + k, i64(base + __builtin_convertvector(load_full<narrow>(place + k), i64)), n - k);
  return has_least;
}

template <class T>
void copy(int rows, int64_t n, const T* from, int64_t from_step, T* to, int64_t to_step) {
  for (int r = 0; r < rows; ++r, from += from_step, to += to_step)
    for (int64_t p = 0; p < n; p += lanes<T>) store(to + p, load(from + p, n - p), n - p);
}

template <class T>
void split_pairs(int64_t n, const T* from, T* even, T* odd) {
  constexpr int kN = lanes<T>;
  Index<T> first{}, second{};
  for (int l = 0; l < kN; ++l) first[l] = 2 * l, second[l] = 2 * l + 1;
  for (int64_t i = 0; i < n; i += 2 * kN, even += kN, odd += kN) {
    const int64_t left = n - i;
    const Vec<T> low = load(from + i, left), high = left > kN ? load(from + i + kN, left - kN) : Vec<T>{};
    store(even, Vec<T>(__builtin_shuffle(low, high, first)), (left + 1) / 2);
    if (left > 1) store(odd, Vec<T>(__builtin_shuffle(low, high, second)), left / 2);
  }
}

template <class T>
constexpr dense::ConvLoops<T> loops_of() {
  return {kRows, kVectors * lanes<T>, kDotRows, tile<T>, dots<T>, largest<T>, give<T>, copy<T>, split_pairs<T>};
}

}  // namespace

namespace VIVACE_ISA {
extern const dense::ConvLoops<float> conv_float;
extern const dense::ConvLoops<double> conv_double;
const dense::ConvLoops<float> conv_float = loops_of<float>();
const dense::ConvLoops<double> conv_double = loops_of<double>();
}  // namespace VIVACE_ISA

}  // namespace vivace
