// The loops of dense.h for one instruction set.
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/isa/dots.h"
#include "runtime/kernels/isa/exp.h"
#include "runtime/kernels/isa/product_tiles.h"

namespace vivace {
namespace {

using dense::AdamStep;
using dense::SgdStep;

template <class T>
VIVACE_INLINE T largest(Vec<T> v) {
  return fold<T>(v, [](Vec<T> a, Vec<T> b) { return maximum(a, b); });
}

/// Lanes at and beyond `left` get `fill`.
template <class T>
VIVACE_INLINE Vec<T> keep_first(Vec<T> v, int64_t left, T fill) {
  Index<T> lane{};
  for (int l = 0; l < lanes<T>; ++l) lane[l] = l;
  return where(lane < Element<Index<T>>(left), v, splat(fill));
}

/// Sum of term(i, left) over vectors that start at i: four running vectors, blocks added in double.
template <class T, class F>
VIVACE_INLINE double blocked_sum(int64_t n, F term) {
  constexpr int kN = lanes<T>;
  double sum = 0;
  for (int64_t start = 0; start < n; start += 4096) {
    const int64_t end = n - start < 4096 ? n : start + 4096;
    Vec<T> a{}, b{}, c{}, d{};
    int64_t i = start;
    for (; i + 4 * kN <= end; i += 4 * kN) {
      a += term(i, kN);
      b += term(i + kN, kN);
      c += term(i + 2 * kN, kN);
      d += term(i + 3 * kN, kN);
    }
    for (; i < end; i += kN) a += term(i, end - i);
    sum += double(total<T>((a + b) + (c + d)));
  }
  return sum;
}

// ---- small products

template <class T, int kR, int kC>
[[gnu::noinline]] void gemm_dot_tile(int64_t k, T alpha, const T* a, int64_t a_rows, const T* b, int64_t b_cols, T beta,
                                     const T* added, int64_t added_rows, T* c, int64_t c_rows) {
  const T* columns[kC];
  for (int j = 0; j < kC; ++j) columns[j] = b + j * b_cols;
  dot_tile<T, kR, kC>(k, a, a_rows, columns, [&](int i, int j, T sum) {
    const T y = alpha * sum;
    c[i * c_rows + j] = beta != 0 ? beta * added[i * added_rows + j] + y : y;
  });
}

template <class T>
void gemm_dots(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_rows, const T* b, int64_t b_cols, T beta,
               const T* added, int64_t added_rows, T* c, int64_t c_rows) {
  column_blocks(n, [&]<int kC>(int64_t j) {
    int64_t i = 0;
    for (; i + kDotRows <= m; i += kDotRows)
      gemm_dot_tile<T, kDotRows, kC>(k, alpha, a + i * a_rows, a_rows, b + j * b_cols, b_cols, beta,
                                     added + i * added_rows + j, added_rows, c + i * c_rows + j, c_rows);
    for (; i < m; ++i)
      gemm_dot_tile<T, 1, kC>(k, alpha, a + i * a_rows, a_rows, b + j * b_cols, b_cols, beta,
                              added + i * added_rows + j, added_rows, c + i * c_rows + j, c_rows);
  });
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  return T(blocked_sum<T>(n, [&](int64_t i, int64_t left) { return load(a + i, left) * load(b + i, left); }));
}

// ---- softmax

template <class T>
VIVACE_INLINE T row_max(const T* x, int64_t n) {
  constexpr int kN = lanes<T>;
  Vec<T> m = splat(-T(__builtin_inf()));
  int64_t i = 0;
  if (n >= 8 * kN) {
    Vec<T> a = m, b = m, c = m;
    for (; i + 4 * kN <= n; i += 4 * kN) {
      m = maximum(m, load(x + i));
      a = maximum(a, load(x + i + kN));
      b = maximum(b, load(x + i + 2 * kN));
      c = maximum(c, load(x + i + 3 * kN));
    }
    m = maximum(maximum(m, a), maximum(b, c));
  }
  for (; i + kN <= n; i += kN) m = maximum(m, load(x + i));
  if (i < n) m = maximum(m, keep_first<T>(load_part(x + i, n - i), n - i, -T(__builtin_inf())));
  return largest<T>(m);
}

/// out = exp(x - shift) * scale (not stored for null); the sum.
template <class T, bool kStore>
VIVACE_INLINE T row_exp(const T* x, T* out, int64_t n, T shift, T scale) {
  constexpr int kN = lanes<T>;
  Vec<T> sum{};
  int64_t i = 0;
  for (; i + kN <= n; i += kN) {
    const Vec<T> e = vexp(load(x + i) - shift) * scale;
    if (kStore) store(out + i, e);
    sum += e;
  }
  if (i < n) {
    const Vec<T> e = vexp(load_part(x + i, n - i) - shift) * scale;
    if (kStore) store_part(out + i, e, n - i);
    sum += keep_first<T>(e, n - i, T(0));
  }
  return total<T>(sum);
}

template <class T>
T max(const T* x, int64_t n) {
  return row_max(x, n);
}

template <class T>
T exp_scaled(const T* x, T* out, int64_t n, T shift, T scale) {
  return row_exp<T, true>(x, out, n, shift, scale);
}

/// out[i] = f(vector at i) for n elements.
template <class T, class F>
VIVACE_INLINE void map(T* out, int64_t n, F f) {
  constexpr int kN = lanes<T>;
  int64_t i = 0;
  for (; i + kN <= n; i += kN) store(out + i, Vec<T>(f(i, kN)));
  if (i < n) store_part(out + i, Vec<T>(f(i, n - i)), n - i);
}

VIVACE_INLINE float log_of(float x) { return __builtin_logf(x); }
VIVACE_INLINE double log_of(double x) { return __builtin_log(x); }
VIVACE_INLINE float root_of(float x) { return __builtin_sqrtf(x); }
VIVACE_INLINE double root_of(double x) { return __builtin_sqrt(x); }

/// Rows that fit one vector stay in registers: memory that was just written under a mask is slow to read.
template <class T, bool kLog>
VIVACE_INLINE void softmax_short(const T* x, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const Vec<T> v = load(x, n);
    const Vec<T> shifted = v - largest<T>(keep_first<T>(v, n, -T(__builtin_inf())));
    const Vec<T> e = vexp(shifted);
    const T sum = total<T>(keep_first<T>(e, n, T(0)));
    store(y, Vec<T>(kLog ? shifted - log_of(sum) : e * (1 / sum)), n);
  }
}

template <class T>
void softmax(const T* x, T* y, int64_t rows, int64_t n) {
  if (n <= lanes<T>) return softmax_short<T, false>(x, y, rows, n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T factor = 1 / row_exp<T, true>(x, y, n, row_max(x, n), T(1));
    map<T>(y, n, [&](int64_t i, int64_t left) { return load(y + i, left) * factor; });
  }
}

/// The largest element of up to a vector of rows and the log of the sum of exp(x - largest), which one log serves.
template <class T, bool kInfiniteIsResult>
VIVACE_INLINE void row_logs(const T* x, int64_t rows, int64_t n, T* shift, T* log_sum) {
  for (int64_t k = rows; k < lanes<T>; ++k) log_sum[k] = T(1);
  for (int64_t k = 0; k < rows; ++k) {
    shift[k] = row_max(x + k * n, n);
    // A largest element that is infinite is the result, and may not be subtracted from itself.
    log_sum[k] =
        kInfiniteIsResult && shift[k] - shift[k] != 0 ? T(1) : row_exp<T, false>(x + k * n, nullptr, n, shift[k], T(1));
  }
  store(log_sum, vlog(load(log_sum)));
}

template <class T>
void logsumexp(const T* x, T* out, int64_t rows, int64_t n) {
  constexpr int kN = lanes<T>;
  T shift[kN], log_sum[kN];
  for (int64_t r = 0; r < rows; r += kN) {
    const int64_t count = rows - r < kN ? rows - r : kN;
    row_logs<T, true>(x + r * n, count, n, shift, log_sum);
    for (int64_t k = 0; k < count; ++k) out[r + k] = shift[k] + log_sum[k];
  }
}

template <class T>
void log_softmax(const T* x, T* y, int64_t rows, int64_t n) {
  if (n <= lanes<T>) return softmax_short<T, true>(x, y, rows, n);
  constexpr int kN = lanes<T>;
  T shift[kN], log_sum[kN];
  for (int64_t r = 0; r < rows; r += kN) {
    const int64_t count = rows - r < kN ? rows - r : kN;
    row_logs<T, false>(x, count, n, shift, log_sum);
    for (int64_t k = 0; k < count; ++k, x += n, y += n)
      map<T>(y, n, [&](int64_t i, int64_t left) { return load(x + i, left) - shift[k] - log_sum[k]; });
  }
}

template <class T>
void softmax_backward(const T* g, const T* y, T* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, g += n, y += n, out += n) {
    const T sum = dot(g, y, n);
    map<T>(out, n, [&](int64_t i, int64_t left) { return (load(g + i, left) - sum) * load(y + i, left); });
  }
}

template <class T>
double sum(const T* x, int64_t n) {
  return blocked_sum<T>(n, [&](int64_t i, int64_t left) { return load(x + i, left); });
}

template <class T>
void log_softmax_backward(const T* g, const T* y, T* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, g += n, y += n, out += n) {
    const T s = T(sum(g, n));
    map<T>(out, n, [&](int64_t i, int64_t left) { return load(g + i, left) - vexp(load(y + i, left)) * s; });
  }
}

template <class T, bool kLog>
void softmax_columns(const T* x, T* y, int64_t n, int64_t step, int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    const int64_t left = columns - c;
    const T* from = x + c;
    T* to = y + c;
    Vec<T> most = splat(-T(__builtin_inf())), sum{};
    for (int64_t r = 0; r < n; ++r) most = maximum(most, load(from + r * step, left));
    for (int64_t r = 0; r < n; ++r) {
      const Vec<T> e = vexp(load(from + r * step, left) - most);
      if (!kLog) store(to + r * step, e, left);
      sum += e;
    }
    if (kLog) {
      const Vec<T> shift = vlog(sum);
      for (int64_t r = 0; r < n; ++r) store(to + r * step, Vec<T>(load(from + r * step, left) - most - shift), left);
    } else {
      const Vec<T> factor = T(1) / sum;
      for (int64_t r = 0; r < n; ++r) store(to + r * step, Vec<T>(load(to + r * step, left) * factor), left);
    }
  }
}

template <class T, bool kLog>
void softmax_backward_columns(const T* g, const T* y, T* out, int64_t n, int64_t step, int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    const int64_t left = columns - c;
    Vec<T> sum{};
    for (int64_t r = c; r < c + n * step; r += step)
      sum += kLog ? load(g + r, left) : load(g + r, left) * load(y + r, left);
    for (int64_t r = c; r < c + n * step; r += step) {
      const Vec<T> dy = load(g + r, left), result = load(y + r, left);
      store(out + r, Vec<T>(kLog ? dy - vexp(result) * sum : (dy - sum) * result), left);
    }
  }
}

// ---- norms

template <class T>
double sum_squares(const T* x, int64_t n, T mean) {
  return blocked_sum<T>(n, [&](int64_t i, int64_t left) {
    const Vec<T> d = keep_first<T>(load(x + i, left) - mean, left, T(0));
    return d * d;
  });
}

template <class T>
double sum_products(const T* g, const T* x, int64_t n, T mean) {
  return blocked_sum<T>(n, [&](int64_t i, int64_t left) { return load(g + i, left) * (load(x + i, left) - mean); });
}

template <class T>
void combine(const T* g, const T* x, T* out, int64_t n, T a, T b, T c) {
  map<T>(out, n, [&](int64_t i, int64_t left) { return load(g + i, left) * a + load(x + i, left) * b + c; });
}

template <class T>
void scale_shift(const T* x, T* y, int64_t n, T scale, T shift) {
  map<T>(y, n, [&](int64_t i, int64_t left) { return load(x + i, left) * scale + shift; });
}

/// sums[c] += term(row * step + c, column, left) over the rows; up to 64 rows are added up in T.
template <class T, class F>
VIVACE_INLINE void column_totals(int64_t rows, int64_t step, int64_t columns, double* sums, F term) {
  constexpr int kN = lanes<T>;
  for (int64_t c = 0; c < columns; c += 2 * kN) {
    const int64_t left = columns - c, right = left - kN;
    for (int64_t first = 0; first < rows; first += 64) {
      const int64_t end = rows - first < 64 ? rows : first + 64;
      Vec<T> a{}, b{};
      for (int64_t r = first; r < end; ++r) {
        a += term(r * step + c, c, left);
        if (right > 0) b += term(r * step + c + kN, c + kN, right);
      }
      for (int l = 0; l < kN && l < left; ++l) sums[c + l] += double(a[l]);
      for (int l = 0; l < kN && l < right; ++l) sums[c + kN + l] += double(b[l]);
    }
  }
}

template <class T>
void column_sums(const T* x, int64_t rows, int64_t step, int64_t columns, double* sums) {
  column_totals<T>(rows, step, columns, sums, [&](int64_t i, int64_t, int64_t left) { return load(x + i, left); });
}
template <class T>
void column_squares(const T* x, int64_t rows, int64_t step, int64_t columns, const T* mean, double* sums) {
  column_totals<T>(rows, step, columns, sums, [&](int64_t i, int64_t c, int64_t left) {
    const Vec<T> d = load(x + i, left) - load(mean + c, left);
    return d * d;
  });
}
template <class T>
void column_products(const T* g, const T* x, int64_t rows, int64_t step, int64_t columns, const T* mean, double* sums) {
  column_totals<T>(rows, step, columns, sums, [&](int64_t i, int64_t c, int64_t left) {
    return load(g + i, left) * (load(x + i, left) - load(mean + c, left));
  });
}

template <class T>
void combine_columns(const T* g, const T* x, T* out, int64_t rows, int64_t step, int64_t columns, const T* a,
                     const T* b, const T* c) {
  for (int64_t r = 0; r < rows; ++r, g += step, x += step, out += step)
    map<T>(out, columns, [&](int64_t i, int64_t left) {
      return load(g + i, left) * load(a + i, left) + load(x + i, left) * load(b + i, left) + load(c + i, left);
    });
}
template <class T>
void scale_shift_columns(const T* x, T* y, int64_t rows, int64_t step, int64_t columns, const T* scale,
                         const T* shift) {
  for (int64_t r = 0; r < rows; ++r, x += step, y += step)
    map<T>(y, columns,
           [&](int64_t i, int64_t left) { return load(x + i, left) * load(scale + i, left) + load(shift + i, left); });
}

template <class T>
void accumulate(const T* x, T* y, int64_t n) {
  map<T>(y, n, [&](int64_t i, int64_t left) { return load(y + i, left) + load(x + i, left); });
}

template <class T>
void moments(const T* x, T* mean, T* rstd, int64_t rows, int64_t n, T eps) {
  if (n <= lanes<T>) {
    const T share = T(1) / T(n);
    for (int64_t r = 0; r < rows; ++r, x += n) {
      const Vec<T> v = load(x, n);
      mean[r] = total<T>(v) * share;
      const Vec<T> d = keep_first<T>(v - mean[r], n, T(0));
      rstd[r] = 1 / root_of(total<T>(d * d) * share + eps);
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += n) {
    mean[r] = T(sum(x, n) / double(n));
    rstd[r] = 1 / root_of(T(sum_squares(x, n, mean[r]) / double(n)) + eps);
  }
}

template <class T>
void normalize(const T* x, const T* mean, const T* rstd, const T* weight, const T* bias, T* y, int64_t rows,
               int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T m = mean[r], s = rstd[r];
    const auto scaled = [&](int64_t i, int64_t left) { return (load(x + i, left) - m) * s; };
    if (weight && bias)
      map<T>(y, n,
             [&](int64_t i, int64_t left) { return scaled(i, left) * load(weight + i, left) + load(bias + i, left); });
    else if (weight)
      map<T>(y, n, [&](int64_t i, int64_t left) { return scaled(i, left) * load(weight + i, left); });
    else if (bias)
      map<T>(y, n, [&](int64_t i, int64_t left) { return scaled(i, left) + load(bias + i, left); });
    else
      map<T>(y, n, scaled);
  }
}

template <class T>
void normalize_backward(const T* g, const T* x, const T* mean, const T* rstd, const T* weight, T* out, int64_t rows,
                        int64_t n) {
  for (int64_t r = 0; r < rows; ++r, g += n, x += n, out += n) {
    const T m = mean[r], s = rstd[r];
    const auto run = [&](auto slope) {
      const double plain = blocked_sum<T>(n, slope);
      const double centred =
          blocked_sum<T>(n, [&](int64_t i, int64_t left) { return slope(i, left) * (load(x + i, left) - m); });
      const T a = T(double(s) * plain / double(n)), b = T(double(s) * double(s) * double(s) * centred / double(n));
      map<T>(out, n, [&](int64_t i, int64_t left) { return slope(i, left) * s - a - (load(x + i, left) - m) * b; });
    };
    if (weight)
      run([&](int64_t i, int64_t left) -> Vec<T> { return load(g + i, left) * load(weight + i, left); });
    else
      run([&](int64_t i, int64_t left) -> Vec<T> { return load(g + i, left); });
  }
}

template <class T>
void affine_backward(const T* g, const T* x, const T* mean, const T* rstd, T* weight_grad, T* bias_grad, int64_t rows,
                     int64_t n) {
  for (int64_t r = 0; r < rows; ++r, g += n, x += n) {
    const T m = mean[r], s = rstd[r];
    if (weight_grad)
      map<T>(weight_grad, n, [&](int64_t i, int64_t left) {
        return load(weight_grad + i, left) + load(g + i, left) * ((load(x + i, left) - m) * s);
      });
    if (bias_grad) accumulate(g, bias_grad, n);
  }
}

// ---- optimizer steps

template <class T>
void adam(const AdamStep& s, T* param, const T* grad, T* average, T* square, T* max_square, int64_t n) {
  constexpr int kN = lanes<T>;
  const T rate = T(1 - s.beta1), beta2 = T(s.beta2), rate2 = T(1 - s.beta2), eps = T(s.eps),
          weight_decay = T(s.weight_decay), decay = T(s.decay), root = T(s.root_correction), step = T(-s.step_size);
  for (int64_t i = 0; i < n; i += kN) {
    const int64_t left = n - i;
    Vec<T> g = load(grad + i, left), p = load(param + i, left);
    if (s.maximize) g = -g;
    if (weight_decay != 0) g = g + p * weight_decay;
    if (decay != 1) p = p * decay;
    Vec<T> m = load(average + i, left), v = load(square + i, left);
    m = m + (g - m) * rate;
    v = v * beta2 + g * rate2 * g;
    store(average + i, m, left);
    store(square + i, v, left);
    if (max_square) {
      v = maximum(load(max_square + i, left), v);
      store(max_square + i, v, left);
    }
    const Vec<T> denominator = sqrt(v) / root + eps;
    store(param + i, Vec<T>(p + m * step / denominator), left);
  }
}

template <class T>
void sgd(const SgdStep& s, T* param, const T* grad, T* buffer, int64_t n) {
  constexpr int kN = lanes<T>;
  const T momentum = T(s.momentum), rate = T(1 - s.dampening), weight_decay = T(s.weight_decay), step = T(-s.lr);
  for (int64_t i = 0; i < n; i += kN) {
    const int64_t left = n - i;
    Vec<T> g = load(grad + i, left);
    const Vec<T> p = load(param + i, left);
    if (s.maximize) g = -g;
    if (weight_decay != 0) g = g + p * weight_decay;
    if (buffer) {
      Vec<T> b = g;
      if (!s.first) b = load(buffer + i, left) * momentum + g * rate;
      store(buffer + i, b, left);
      g = s.nesterov ? g + b * momentum : b;
    }
    store(param + i, Vec<T>(p + g * step), left);
  }
}

template <class T>
constexpr dense::DenseLoops<T> table() {
  return {gemm<T>,
          gemm_dots<T>,
          dot<T>,
          softmax<T>,
          log_softmax<T>,
          softmax_backward<T>,
          log_softmax_backward<T>,
          softmax_columns<T, false>,
          softmax_columns<T, true>,
          softmax_backward_columns<T, false>,
          softmax_backward_columns<T, true>,
          logsumexp<T>,
          exp_scaled<T>,
          max<T>,
          moments<T>,
          normalize<T>,
          normalize_backward<T>,
          affine_backward<T>,
          sum<T>,
          sum_squares<T>,
          sum_products<T>,
          combine<T>,
          scale_shift<T>,
          column_sums<T>,
          column_squares<T>,
          column_products<T>,
          combine_columns<T>,
          scale_shift_columns<T>,
          accumulate<T>,
          adam<T>,
          sgd<T>};
}

}  // namespace

namespace VIVACE_ISA {

extern const dense::DenseLoops<float> dense_float;
extern const dense::DenseLoops<double> dense_double;
constexpr dense::DenseLoops<float> dense_float = table<float>();
constexpr dense::DenseLoops<double> dense_double = table<double>();

}  // namespace VIVACE_ISA
}  // namespace vivace
