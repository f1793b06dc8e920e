// Folds of one line of elements, and of all lines of a nest.
#include "runtime/kernels/fold.h"

#include <cmath>
#include <limits>

#include "runtime/kernels/convert.h"
#include "runtime/kernels/reduce.h"

namespace vivace::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double neutral(Fold kind) {
  switch (kind) {
    case Fold::Product:
      return 1;
    case Fold::Max:
      return -kInf;
    case Fold::Min:
    case Fold::MinMagnitude:
      return kInf;
    default:
      return 0;
  }
}

double joined(Fold kind, double a, double b) {
  switch (kind) {
    case Fold::Product:
      return a * b;
    case Fold::Max:
    case Fold::MaxMagnitude:
      return a > b || a != a ? a : b;
    case Fold::Min:
    case Fold::MinMagnitude:
      return a < b || a != a ? a : b;
    default:
      return a + b;
  }
}

const ReduceLoops& loops() {
  static const ReduceLoops& chosen = VIVACE_PICK(reduce_loops);
  return chosen;
}
template <class T>
const ReduceLoopsOf<T>& loops_of() {
  if constexpr (sizeof(T) == 4)
    return loops().f32;
  else
    return loops().f64;
}

template <class Out>
void store_as(char* out, double x) {
  *reinterpret_cast<Out*>(out) = convert<Out>(x);
}

template <class T>
struct FloatFold {
  using In = T;
  using Acc = double;
  Fold kind;
  DType in_type, out_type;
  Finish finish;
  double init;
  double (*run)(const T*, int64_t);
  void (*rows)(const T*, int64_t, int64_t, int64_t, double*);

  FloatFold(Fold fold, DType in, DType out, Finish f)
      : kind(fold),
        in_type(in),
        out_type(out),
        finish(f),
        init(neutral(fold)),
        run(loops_of<T>().inner[int(fold)]),
        rows(loops_of<T>().outer[int(fold)]) {}

  void inner(const T* p, int64_t n, double& acc) const { acc = joined(kind, acc, run(p, n)); }
  void outer(const T* p, int64_t n, int64_t step, int64_t columns, double* accs) const {
    rows(p, n, step, columns, accs);
  }
  void merge(double& acc, double other) const { acc = joined(kind, acc, other); }
  /// Many short rows without a call for each; false: too long, or empty.
  bool inner_rows(const T* p, int64_t n_rows, int64_t step, int64_t n, double* accs) const {
    if (n == 0 || n > kShortRow) return false;
    loops_of<T>().short_rows[int(kind)](p, n_rows, step, n, accs);
    return true;
  }
  void store_run(const double* x, int64_t n, char* out, int64_t step) const {
    if (out_type == DType::Float32 && finish.root == 1 && step == int64_t(sizeof(float))) {
      float* to = reinterpret_cast<float*>(out);
      for (int64_t i = 0; i < n; ++i) to[i] = float(x[i] * finish.scale);
      return;
    }
    for (int64_t i = 0; i < n; ++i) store(x[i], out + i * step);
  }
  void store(double x, char* out) const {
    x *= finish.scale;
    if (finish.root == 2)
      x = std::sqrt(x);
    else if (finish.root != 1)
      x = std::pow(x, 1 / finish.root);
    if (out_type == DType::Float32) [[likely]]
      return store_as<float>(out, x);
    visit(out_type, [&]<class Out>() { store_as<Out>(out, x); });
  }
};

/// Integers wrap around, as in PyTorch.
template <class T>
struct IntFold {
  using In = T;
  using Acc = T;
  Fold kind;
  DType in_type, out_type;
  T init;

  IntFold(Fold fold, DType in, DType out) : kind(fold), in_type(in), out_type(out) {
    init = fold == Fold::Product ? 1
           : fold == Fold::Max   ? std::numeric_limits<T>::min()
           : fold == Fold::Min   ? std::numeric_limits<T>::max()
                                 : 0;
  }
  static T join(Fold kind, T a, T b) {
    switch (kind) {
      case Fold::Product:
        return T(uint64_t(a) * uint64_t(b));
      case Fold::Max:
        return std::max(a, b);
      case Fold::Min:
        return std::min(a, b);
      default:
        return T(uint64_t(a) + uint64_t(b));
    }
  }
  template <class F>
  void with_kind(F&& f) const {
    switch (kind) {
      case Fold::Product:
        return f([](T a, T b) { return join(Fold::Product, a, b); });
      case Fold::Max:
        return f([](T a, T b) { return join(Fold::Max, a, b); });
      case Fold::Min:
        return f([](T a, T b) { return join(Fold::Min, a, b); });
      default:
        return f([](T a, T b) { return join(Fold::Sum, a, b); });
    }
  }
  /// The vector loops for this kind, if there are any.
  const IntReduceLoops* vectorised() const {
    const bool any_sign = kind == Fold::Sum || kind == Fold::Product;
    if (!std::is_same_v<T, int64_t> && !any_sign) return nullptr;
    return kind == Fold::Sum       ? &loops().sum
           : kind == Fold::Product ? &loops().product
           : kind == Fold::Max     ? &loops().max
           : kind == Fold::Min     ? &loops().min
                                   : nullptr;
  }
  void inner(const T* p, int64_t n, T& acc) const {
    if (const IntReduceLoops* v = vectorised()) {
      acc = T(v->inner(reinterpret_cast<const int64_t*>(p), n, int64_t(acc)));
      return;
    }
    with_kind([&](auto combine) {
      T total = acc;
      for (int64_t i = 0; i < n; ++i) total = combine(total, p[i]);
      acc = total;
    });
  }
  void outer(const T* p, int64_t rows, int64_t step, int64_t columns, T* accs) const {
    if (const IntReduceLoops* v = vectorised())
      return v->outer(reinterpret_cast<const int64_t*>(p), rows, step, columns, reinterpret_cast<int64_t*>(accs));
    with_kind([&](auto combine) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) accs[c] = combine(accs[c], p[r * step + c]);
    });
  }
  void merge(T& acc, T other) const { acc = join(kind, acc, other); }
  void store(T x, char* out) const {
    visit(out_type, [&]<class Out>() { *reinterpret_cast<Out*>(out) = convert<Out>(x); });
  }
};

template <class T>
struct ComplexFold {
  using In = Complex<T>;
  using Acc = Complex<double>;
  bool product;
  DType in_type, out_type;
  double scale;
  Acc init;

  ComplexFold(Fold fold, DType in, DType out, double s)
      : product(fold == Fold::Product), in_type(in), out_type(out), scale(s), init{product ? 1.0 : 0.0, 0} {}

  Acc join(Acc a, Acc b) const {
    if (product) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return {a.re + b.re, a.im + b.im};
  }
  void inner(const In* p, int64_t n, Acc& acc) const {
    if (product) {
      for (int64_t i = 0; i < n; ++i) acc = join(acc, {p[i].re, p[i].im});
      return;
    }
    Acc even = acc, odd{0, 0};
    for (int64_t i = 0; i + 1 < n; i += 2) {
      even = {even.re + p[i].re, even.im + p[i].im};
      odd = {odd.re + p[i + 1].re, odd.im + p[i + 1].im};
    }
    if (n % 2) even = {even.re + p[n - 1].re, even.im + p[n - 1].im};
    acc = {even.re + odd.re, even.im + odd.im};
  }
  void outer(const In* p, int64_t rows, int64_t step, int64_t columns, Acc* accs) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) accs[c] = join(accs[c], {p[r * step + c].re, p[r * step + c].im});
  }
  void merge(Acc& acc, Acc other) const { acc = join(acc, other); }
  void store(Acc x, char* out) const {
    const Acc y{x.re * scale, x.im * scale};
    visit(out_type, [&]<class Out>() { *reinterpret_cast<Out*>(out) = convert<Out>(y); });
  }
};

}  // namespace

DType fold_type(DType t) { return t == DType::UInt64 ? t : !is_differentiable(t) ? DType::Int64 : compute_of(t); }

void fold(Fold kind, const Tensor& in, DType compute, Tensor& out, uint64_t mask, Finish finish) {
  const DType to = out.dtype();
  switch (compute) {
    case DType::Float32:
      return reduce(FloatFold<float>(kind, compute, to, finish), in, out, mask);
    case DType::Float64:
      return reduce(FloatFold<double>(kind, compute, to, finish), in, out, mask);
    case DType::Int64:
      return reduce(IntFold<int64_t>(kind, compute, to), in, out, mask);
    case DType::UInt64:
      return reduce(IntFold<uint64_t>(kind, compute, to), in, out, mask);
    case DType::Complex64:
      return reduce(ComplexFold<float>(kind, compute, to, finish.scale), in, out, mask);
    case DType::Complex128:
      return reduce(ComplexFold<double>(kind, compute, to, finish.scale), in, out, mask);
    default:
      fail("fold: elements cannot be read as ", compute);
  }
}

}  // namespace vivace::kernels
