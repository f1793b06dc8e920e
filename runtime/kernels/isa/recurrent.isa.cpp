// The loops of recurrent.h for one instruction set.
#include "runtime/kernels/isa/recurrent.h"

#include "runtime/kernels/isa/exp.h"

namespace vivace {
namespace {

/// f(i, left) for every vector of n elements.
template <class T, class F>
VIVACE_INLINE void each(int64_t n, F f) {
  int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) f(i, int64_t(lanes<T>));
  if (i < n) f(i, n - i);
}

template <class T>
void lstm(const T* x, const T* y, T* c, T* out, T* kept, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const auto gate = [&](int64_t k) { return load(x + k * n + j, left) + load(y + k * n + j, left); };
    const Vec<T> i = vsigmoid(gate(0)), f = vsigmoid(gate(1)), g = vtanh(gate(2)), o = vsigmoid(gate(3));
    const Vec<T> cell = f * load(c + j, left) + i * g;
    store(c + j, cell, left);
    store(out + j, Vec<T>(o * vtanh(cell)), left);
    if (!kept) return;
    store(kept + j, i, left);
    store(kept + n + j, f, left);
    store(kept + 2 * n + j, g, left);
    store(kept + 3 * n + j, o, left);
    store(kept + 4 * n + j, cell, left);
  });
}

template <class T>
void lstm_output(const T* kept, T* out, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    store(out + j, Vec<T>(load(kept + 3 * n + j, left) * vtanh(load(kept + 4 * n + j, left))), left);
  });
}

template <class T>
void lstm_backward(const T* kept, const T* before, const T* dh, T* dc, T* dx, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const auto saved = [&](int64_t k) { return load(kept + k * n + j, left); };
    const Vec<T> i = saved(0), f = saved(1), g = saved(2), o = saved(3), t = vtanh(saved(4)), up = load(dh + j, left);
    const Vec<T> cell = load(dc + j, left) + up * o * (T(1) - t * t);
    store(dx + j, Vec<T>(cell * g * i * (T(1) - i)), left);
    store(dx + n + j, Vec<T>(cell * load(before + j, left) * f * (T(1) - f)), left);
    store(dx + 2 * n + j, Vec<T>(cell * i * (T(1) - g * g)), left);
    store(dx + 3 * n + j, Vec<T>(up * t * o * (T(1) - o)), left);
    store(dc + j, Vec<T>(cell * f), left);
  });
}

template <class T>
void gru(const T* x, const T* y, const T* h, T* out, T* kept, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const auto part = [&](const T* p, int64_t k) { return load(p + k * n + j, left); };
    const Vec<T> r = vsigmoid(part(x, 0) + part(y, 0)), z = vsigmoid(part(x, 1) + part(y, 1)), hidden = part(y, 2);
    const Vec<T> fresh = vtanh(part(x, 2) + r * hidden);
    store(out + j, Vec<T>((load(h + j, left) - fresh) * z + fresh), left);
    if (!kept) return;
    store(kept + j, r, left);
    store(kept + n + j, z, left);
    store(kept + 2 * n + j, fresh, left);
    store(kept + 3 * n + j, hidden, left);
  });
}

template <class T>
void gru_backward(const T* kept, const T* h, T* dh, T* dx, T* dy, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const auto saved = [&](int64_t k) { return load(kept + k * n + j, left); };
    const Vec<T> r = saved(0), z = saved(1), fresh = saved(2), hidden = saved(3), up = load(dh + j, left);
    const Vec<T> dn = up * (T(1) - z) * (T(1) - fresh * fresh), dz = up * (load(h + j, left) - fresh) * z * (T(1) - z),
                 dr = dn * hidden * r * (T(1) - r);
    store(dx + j, dr, left);
    store(dx + n + j, dz, left);
    store(dx + 2 * n + j, dn, left);
    store(dy + j, dr, left);
    store(dy + n + j, dz, left);
    store(dy + 2 * n + j, Vec<T>(dn * r), left);
    store(dh + j, Vec<T>(up * z), left);
  });
}

template <class T>
void tanh(const T* x, const T* y, T* out, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) { store(out + j, vtanh(load(x + j, left) + load(y + j, left)), left); });
}
template <class T>
void tanh_backward(const T* out, const T* dh, T* dx, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const Vec<T> t = load(out + j, left);
    store(dx + j, Vec<T>(load(dh + j, left) * (T(1) - t * t)), left);
  });
}

template <class T>
void relu(const T* x, const T* y, T* out, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    const Vec<T> s = load(x + j, left) + load(y + j, left);
    store(out + j, where(s < T(0), Vec<T>{}, s), left);
  });
}
template <class T>
void relu_backward(const T* out, const T* dh, T* dx, int64_t n) {
  each<T>(n, [&](int64_t j, int64_t left) {
    store(dx + j, where(load(out + j, left) > T(0), load(dh + j, left), Vec<T>{}), left);
  });
}

template <class T>
constexpr dense::RecurrentLoops<T> table() {
  return {lstm<T>, lstm_backward<T>, lstm_output<T>, gru<T>,          gru_backward<T>,
          tanh<T>, tanh_backward<T>, relu<T>,        relu_backward<T>};
}

}  // namespace

namespace VIVACE_ISA {

extern const dense::RecurrentLoops<float> recurrent_float;
extern const dense::RecurrentLoops<double> recurrent_double;
constexpr dense::RecurrentLoops<float> recurrent_float = table<float>();
constexpr dense::RecurrentLoops<double> recurrent_double = table<double>();

}  // namespace VIVACE_ISA
}  // namespace vivace
