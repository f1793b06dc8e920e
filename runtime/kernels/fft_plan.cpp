// Factors and tables of transforms; lengths with large prime factors become a convolution of a length with small ones
// (Bluestein).
#include "runtime/kernels/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numbers>

namespace vivace::kernels {
namespace {

/// What was made for a key; the latest few are kept.
template <class Made>
class Latest {
 public:
  using Key = std::pair<int64_t, int64_t>;
  template <class F>
  std::shared_ptr<const Made> get(Key key, F&& make) {
    const auto it = std::ranges::find(kept_, key, &Entry::first);
    if (it == kept_.end())
      kept_.emplace_front(key, make());
    else
      kept_.splice(kept_.begin(), kept_, it);
    if (kept_.size() > kMost) kept_.pop_back();
    return kept_.front().second;
  }

 private:
  static constexpr size_t kMost = 32;
  using Entry = std::pair<Key, std::shared_ptr<const Made>>;
  std::list<Entry> kept_;
};

/// n's prime factors, some of them joined to radices with a pass of their own; empty if one is too large, or for 1.
std::vector<int> radices(int64_t n) {
  std::vector<int> result;
  int twos = 0;
  while (n % 2 == 0) n /= 2, ++twos;
  // Eights and at most two fours, which have no passes of two.
  for (; twos >= 3 && twos != 4; twos -= 3) result.push_back(8);
  for (; twos >= 2; twos -= 2) result.push_back(4);
  if (twos) result.push_back(2);
  for (int p = 3; p <= dense::kLargestRadix; p += 2)
    while (n % p == 0) result.push_back(p), n /= p;
  if (n > 1) result.clear();
  return result;
}

bool has_small_factors(int64_t n) { return n == 1 || !radices(n).empty(); }

/// The greatest divisor that is at most `limit`.
int64_t divisor_below(int64_t n, int64_t limit) {
  int64_t d = std::min(n, limit);
  while (n % d) --d;
  return d;
}

/// exp(-2 pi i k / n) to the last digit.
Complex<double> root_of_unity(int64_t k, int64_t n) {
  // Angles are folded into the first eighth, where sine and cosine have all their digits.
  k %= n;
  if (2 * k > n) {
    const Complex<double> mirrored = root_of_unity(n - k, n);
    return {mirrored.re, -mirrored.im};
  }
  if (4 * k > n) {
    const Complex<double> rest = root_of_unity(2 * k == n ? 0 : n - 2 * k, 2 * n);
    return {-rest.re, rest.im};
  }
  const double angle = 2 * std::numbers::pi * double(k) / double(n);
  if (8 * k <= n) return {std::cos(angle), -std::sin(angle)};
  const double rest = std::numbers::pi * double(n - 4 * k) / (2 * double(n));
  return {std::sin(rest), -std::cos(rest)};
}

/// exp(-2 pi i k / n) for k below `count`, as pairs.
template <class T>
std::vector<T> roots_of_unity(int64_t count, int64_t n) {
  std::vector<T> roots(size_t(2 * count));
  for (int64_t k = 0; k < count; ++k) {
    const Complex<double> z = root_of_unity(k, n);
    roots[size_t(2 * k)] = T(z.re);
    roots[size_t(2 * k + 1)] = T(z.im);
  }
  return roots;
}

}  // namespace

template <class T>
void FftPlan<T>::Passes::plan(int64_t n) {
  length = n;
  const std::vector<T> all = roots_of_unity<T>(n, n);
  int64_t groups = n, stride = 1;
  for (int radix : radices(n)) {
    groups /= radix;
    std::vector<T>& twiddles = tables.emplace_back();
    twiddles.reserve(size_t(2 * (radix - 1) * groups));
    for (int64_t p = 0; p < groups; ++p)
      for (int k = 1; k < radix; ++k)
        for (int part = 0; part < 2; ++part) twiddles.push_back(all[size_t(2 * p * k * stride + part)]);
    const T* const table = twiddles.data();
    passes.push_back({radix, groups, stride, table, tables.emplace_back(roots_of_unity<T>(radix, radix)).data()});
    stride *= radix;
  }
}

template <class T>
FftPlan<T>::FftPlan(int64_t length, FftLanes lanes)
    : loops_(dense::fft_loops<T>()), length_(length), lanes_(FftLanes::Lines) {
  if (!has_small_factors(length)) {
    plan_chirp();
    return;
  }
  const int64_t parts = divisor_below(length, loops_.lanes);
  if (lanes == FftLanes::Parts && 2 * parts >= loops_.lanes && parts < length)
    plan_parts(parts);
  else
    along_.plan(length);
}

template <class T>
void FftPlan<T>::plan_parts(int64_t parts) {
  lanes_ = FftLanes::Parts;
  const int64_t n = length_ / parts;
  along_.plan(n);
  across_.plan(parts);
  const int64_t width = loops_.lanes;
  twiddles_.resize(size_t(2 * n * width));
  for (int64_t k = 0; k < n; ++k)
    for (int64_t lane = 0; lane < parts; ++lane) {
      const Complex<double> z = root_of_unity(k * lane, length_);
      twiddles_[size_t(2 * k * width + lane)] = T(z.re);
      twiddles_[size_t((2 * k + 1) * width + lane)] = T(z.im);
    }
}

template <class T>
void FftPlan<T>::plan_chirp() {
  int64_t size = 64;
  while (size < 2 * length_ - 1) size *= 2;
  // 3/4 and 5/8 of that divide as well.
  if (5 * size / 8 >= 2 * length_ - 1)
    size = 5 * size / 8;
  else if (3 * size / 4 >= 2 * length_ - 1)
    size = 3 * size / 4;
  inner_ = std::make_unique<FftPlan<T>>(size, FftLanes::Parts);
  lanes_ = inner_->lanes_;
  chirp_.resize(size_t(2 * length_));
  spectrum_.assign(size_t(2 * size), T(0));
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < length_; ++k) {
    const Complex<double> z = root_of_unity(square, 2 * length_);
    square = (square + 2 * k + 1) % (2 * length_);
    const T parts[2] = {T(z.re), T(z.im)};
    for (size_t part = 0; part < 2; ++part) {
      chirp_[size_t(2 * k) + part] = parts[part];
      const T conjugate = (part ? -parts[part] : parts[part]) / T(size);
      spectrum_[size_t(2 * k) + part] = conjugate;
      if (k) spectrum_[size_t(2 * (size - k)) + part] = conjugate;
    }
  }
  std::vector<T> scratch(size_t(inner_->scratch()) + 64 / sizeof(T));
  void* aligned = scratch.data();
  size_t room = scratch.size() * sizeof(T);
  std::align(64, room - 64, aligned, room);
  inner_->run(spectrum_.data(), 2 * size, spectrum_.data(), 2 * size, 1, false, T(1), static_cast<T*>(aligned));
}

template <class T>
int64_t FftPlan<T>::scratch() const {
  if (inner_) return block() * 2 * inner_->length() + inner_->scratch();
  return 4 * loops_.lanes * (along_.length + (lanes_ == FftLanes::Parts ? loops_.lanes : 0));
}

template <class T>
void FftPlan<T>::run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines, bool is_inverse, T scale,
                     T* scratch) const {
  if (inner_) return run_chirp(from, from_step, to, to_step, lines, is_inverse, scale, scratch);
  if (lanes_ == FftLanes::Lines)
    return loops_.rows(along_.get(), from, from_step, to, to_step, lines, is_inverse, scale, scratch);
  loops_.line({along_.get(), across_.get(), twiddles_.data()}, from, to, is_inverse, scale, scratch);
}

template <class T>
void FftPlan<T>::run_columns(const T* from, T* to, int64_t step, int64_t lines, bool is_inverse, T scale,
                             T* scratch) const {
  loops_.columns(along_.get(), from, to, step, lines, is_inverse, scale, scratch);
}

template <class T>
void FftPlan<T>::run_chirp(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines, bool is_inverse,
                           T scale, T* scratch) const {
  const int64_t size = inner_->length();
  T* const rest = scratch + block() * 2 * size;
  for (int64_t i = 0; i < lines; ++i) {
    T* z = scratch + i * 2 * size;
    loops_.multiply(from + i * from_step, chirp_.data(), z, length_, T(1), is_inverse, false);
    std::fill(z + 2 * length_, z + 2 * size, T(0));
  }
  inner_->run(scratch, 2 * size, scratch, 2 * size, lines, false, T(1), rest);
  for (int64_t i = 0; i < lines; ++i) {
    T* z = scratch + i * 2 * size;
    loops_.multiply(z, spectrum_.data(), z, size, T(1), false, false);
  }
  inner_->run(scratch, 2 * size, scratch, 2 * size, lines, true, T(1), rest);
  for (int64_t i = 0; i < lines; ++i)
    loops_.multiply(scratch + i * 2 * size, chirp_.data(), to + i * to_step, length_, scale, false, is_inverse);
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length, FftLanes lanes) {
  static Latest<FftPlan<T>> plans;
  return plans.get({length, int64_t(lanes)}, [&] { return std::make_shared<const FftPlan<T>>(length, lanes); });
}

template <class T>
std::shared_ptr<const std::vector<T>> real_roots(int64_t half) {
  static Latest<std::vector<T>> tables;
  return tables.get({half, 0},
                    [&] { return std::make_shared<const std::vector<T>>(roots_of_unity<T>(half, 2 * half)); });
}

template class FftPlan<float>;
template class FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t, FftLanes);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t, FftLanes);
template std::shared_ptr<const std::vector<float>> real_roots<float>(int64_t);
template std::shared_ptr<const std::vector<double>> real_roots<double>(int64_t);

}  // namespace vivace::kernels
