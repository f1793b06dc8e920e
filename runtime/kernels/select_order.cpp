// Elements picked by rank along a dim: topk, kthvalue, median, mode. Elements are compared as
// numbers that hold value and place.
#include <algorithm>
#include <vector>

#include "generated/kernels/index/sort.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/sort.h"

namespace vivace {
namespace {

void check_ordered(const Tensor& self, const char* op) {
  if (is_complex(self.dtype())) fail_not_implemented("\"", op, "\" not implemented for '", self.dtype(), "'");
}

std::tuple<TensorRef, TensorRef> picked(Tensor& self, int64_t dim, bool keepdim, const char* op) {
  check_ordered(self, op);
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.size(d) == 0) fail_index(op, "(): Expected reduction dim ", d, " to have non-zero size.");
  const Dims sizes = kernels::reduced_sizes(self, uint64_t(1) << d, keepdim);
  return {empty(sizes, self.dtype(), self.device()), empty(sizes, DType::Int64, self.device())};
}

}  // namespace

namespace meta {

std::tuple<TensorRef, TensorRef> topk(Tensor& self, int64_t k, int64_t dim, bool, bool) {
  check_ordered(self, "topk");
  const int64_t d = wrap_dim(dim, self.dim());
  if (k < 0 || k > self.size(d)) fail("selected index k out of range");
  Dims sizes(self.sizes());
  if (self.dim()) sizes[int(d)] = k;
  return {empty(sizes, self.dtype(), self.device()), empty(sizes, DType::Int64, self.device())};
}
std::tuple<TensorRef, TensorRef> kthvalue(Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  auto result = picked(self, dim, keepdim, "kthvalue");
  if (k < 1 || k > self.size(dim))
    fail("kthvalue(): selected number k out of range for dimension ", wrap_dim(dim, self.dim()));
  return result;
}
TensorRef median(Tensor& self) {
  check_ordered(self, "median");
  return empty({}, self.dtype(), self.device());
}
TensorRef nanmedian(Tensor& self) { return median(self); }
std::tuple<TensorRef, TensorRef> median_dim(Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, "median");
}
std::tuple<TensorRef, TensorRef> nanmedian_dim(Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, "nanmedian");
}
std::tuple<TensorRef, TensorRef> mode(Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, "mode");
}

}  // namespace meta

namespace kernels {
namespace {

/// An element as one number that orders as (value, index): NaN is the largest, equals go by place.
template <class T>
using Key = decltype(order_key(T{}));
template <class T>
using Rank = std::conditional_t<sizeof(Key<T>) == 4, uint64_t, unsigned __int128>;
template <class T>
Rank<T> rank_of(Key<T> key, int64_t i) {
  return Rank<T>(key) << (8 * int(sizeof(Key<T>))) | Rank<T>(Key<T>(i));
}
template <class T>
int64_t index_of(Rank<T> rank) {
  return int64_t(Key<T>(rank));
}

/// Calls f(first element of a line, n, line's number) with the dim's lines one after the other.
template <class T, class F>
void for_lines(const Tensor& self, int64_t d, F&& f) {
  const TensorRef lines = contiguous(*with_dim_last(self, d));
  const int64_t n = self.size(d);
  if (lines->numel() == 0) return;
  for (int64_t line = 0; line < lines->numel() / n; ++line) f(lines->data<T>() + line * n, n, line);
}

/// Elements that are looked at together.
constexpr int64_t kScan = 256;

/// Up to so many elements are kept in order while a line is scanned.
constexpr int64_t kFew = 16;

/// The k <= kFew least of a line's ranks in order, in the first k of `room`.
template <class T>
void select_few(const T* x, int64_t n, int64_t k, bool descending, std::vector<Rank<T>>& room) {
  room.assign(size_t(k), ~Rank<T>(0));
  Rank<T>* best = room.data();
  const Key<T> flip = descending ? ~Key<T>(0) : Key<T>(0);
  Key<T> keys[kScan], limit = ~Key<T>(0);
  for (int64_t from = 0; from < n; from += kScan) {
    const int64_t m = std::min(kScan, n - from);
    for (int64_t i = 0; i < m; ++i) keys[i] = order_key(x[from + i]) ^ flip;
    for (int64_t i = 0; i < m; ++i) {
      if (keys[i] > limit) [[likely]]
        continue;
      const Rank<T> rank = rank_of<T>(keys[i], from + i);
      if (rank > best[k - 1]) continue;
      int64_t at = k - 1;
      for (; at > 0 && best[at - 1] > rank; --at) best[at] = best[at - 1];
      best[at] = rank;
      limit = Key<T>(best[k - 1] >> (8 * sizeof(Key<T>)));
    }
  }
}

/// The k least of a line's ranks, unordered, in the first k of `room`. A line is scanned once: what is less than the
/// best k so far is kept until there is too much of it.
template <class T>
void select_least(const T* x, int64_t n, int64_t k, bool descending, std::vector<Rank<T>>& room) {
  const size_t most = size_t(std::min(n, std::max<int64_t>(4 * k, 64)));
  room.clear();
  room.reserve(most);
  Key<T> limit = ~Key<T>(0);  // keys above it are out
  const Key<T> flip = descending ? ~Key<T>(0) : Key<T>(0);
  Key<T> keys[kScan];
  for (int64_t from = 0; from < n; from += kScan) {
    const int64_t m = std::min(kScan, n - from);
    Key<T> least = ~Key<T>(0);
    for (int64_t i = 0; i < m; ++i) {
      keys[i] = order_key(x[from + i]) ^ flip;
      least = std::min(least, keys[i]);
    }
    if (least > limit) continue;
    for (int64_t i = 0; i < m; ++i) {
      if (keys[i] > limit) continue;
      room.push_back(rank_of<T>(keys[i], from + i));
      if (room.size() < most || from + i + 1 == n) continue;
      std::nth_element(room.begin(), room.begin() + (k - 1), room.end());
      room.resize(size_t(k));
      limit = Key<T>(room[size_t(k - 1)] >> (8 * sizeof(Key<T>)));
    }
  }
  std::nth_element(room.begin(), room.begin() + (k - 1), room.end());
}

/// The index of the element with k before it. Lines are narrowed to what lies between two elements of a sample that
/// surround it most likely, without branches on the elements, until few are left.
template <class T>
int64_t select_nth(const T* x, int64_t n, int64_t k, std::vector<Key<T>>& room) {
  constexpr int64_t kFewLeft = 256, kSample = 128, kMargin = 10;
  constexpr Key<T> kMost = ~Key<T>(0);
  room.resize(size_t(n));
  const auto fill = [&] {
    for (int64_t i = 0; i < n; ++i) room[size_t(i)] = order_key(x[i]);
  };
  fill();
  int64_t left = n, before = k;  // elements of `room`, and those of them that come first
  while (left > kFewLeft) {
    Key<T> sample[kSample];
    for (int64_t i = 0; i < kSample; ++i) sample[i] = room[size_t(i * left / kSample)];
    std::sort(sample, sample + kSample);
    const int64_t rank = before * kSample / left;
    const Key<T> low = rank < kMargin ? 0 : sample[rank - kMargin],
                 high = rank + kMargin < kSample ? sample[rank + kMargin] : kMost;
    int64_t below = 0, kept = 0;
    for (int64_t i = 0; i < left; ++i) {
      const Key<T> key = room[size_t(i)];
      room[size_t(kept)] = key;
      kept += (key >= low) & (key <= high);
      below += key < low;
    }
    if (before < below || before >= below + kept) {  // it lies elsewhere, which is rare
      fill();
      left = n, before = k;
      break;
    }
    before -= below;
    const bool many_equals = kept == left || low == high;
    left = kept;
    if (many_equals) break;
  }
  const auto nth = room.begin() + before;
  std::nth_element(room.begin(), nth, room.begin() + left);
  const Key<T> key = *nth;
  // Of equals, as many as are left when those that are less are taken away come before it.
  int64_t equals = std::count(room.begin(), nth, key);
  for (int64_t at = 0;; ++at)
    if (order_key(x[at]) == key && equals-- == 0) return at;
}

template <class F>
void visit_ordered(DType dtype, F&& f) {
  visit(dtype, [&]<class T>() {
    if constexpr (!kIsComplex<T>) f.template operator()<T>();
  });
}

/// Stores the element of rank rank(x, n) of each line.
template <class F>
void pick(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices, F&& rank) {
  const int64_t d = wrap_dim(dim, self.dim());
  visit_ordered(self.dtype(), [&]<class T>() {
    std::vector<Key<T>> room;
    for_lines<T>(self, d, [&](const T* x, int64_t n, int64_t line) {
      const int64_t at = select_nth(x, n, rank(x, n), room);
      values.data<T>()[line] = x[at];
      indices.data<int64_t>()[line] = at;
    });
  });
}

template <class T>
int64_t count_nan(const T* x, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += load(x[i]) != load(x[i]);
  return count;
}

/// NaN if there is one, else the middle one.
constexpr auto kMedianRank = [](const auto* x, int64_t n) {
  const int64_t missing = count_nan(x, n);
  return missing ? n - missing : (n - 1) / 2;
};
constexpr auto kNanMedianRank = [](const auto* x, int64_t n) {
  const int64_t present = n - count_nan(x, n);
  return present ? (present - 1) / 2 : 0;
};

template <class F>
void whole_median(const Tensor& self, Tensor& out, F&& rank) {
  if (self.numel() == 0) {
    if (is_floating(out.dtype())) return fill_into(out, std::numeric_limits<double>::quiet_NaN());
    return fill_into(out, std::numeric_limits<int64_t>::min());
  }
  const TensorRef flat = vivace::alias(*contiguous(self)), index = vivace::empty({}, DType::Int64);
  set_layout(*flat, Dims{self.numel()}, Dims{1}, flat->storage_offset());
  pick(*flat, 0, out, *index, rank);
}

}  // namespace

void topk(Tensor& self, int64_t k, int64_t dim, bool largest, bool, Tensor& values, Tensor& indices) {
  if (k == 0 || self.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorRef v = contiguous(*with_dim_last(values, d)), x = contiguous(*with_dim_last(indices, d));
  visit_ordered(self.dtype(), [&]<class T>() {
    std::vector<Rank<T>> room;
    for_lines<T>(self, d, [&](const T* from, int64_t n, int64_t line) {
      if (k <= kFew) {
        select_few(from, n, k, largest, room);
      } else {
        select_least(from, n, k, largest, room);
        std::sort(room.begin(), room.begin() + k);
      }
      for (int64_t i = 0; i < k; ++i) {
        const int64_t at = index_of<T>(room[size_t(i)]);
        v->data<T>()[line * k + i] = from[at];
        x->data<int64_t>()[line * k + i] = at;
      }
    });
  });
  copy_into(*with_dim_last(values, d), *v);
  copy_into(*with_dim_last(indices, d), *x);
}

void kthvalue(Tensor& self, int64_t k, int64_t dim, bool, Tensor& values, Tensor& indices) {
  pick(self, dim, values, indices, [k](const auto*, int64_t) { return k - 1; });
}
void median(Tensor& self, Tensor& out) { whole_median(self, out, kMedianRank); }
void nanmedian(Tensor& self, Tensor& out) { whole_median(self, out, kNanMedianRank); }
void median_dim(Tensor& self, int64_t dim, bool, Tensor& values, Tensor& indices) {
  pick(self, dim, values, indices, kMedianRank);
}
void nanmedian_dim(Tensor& self, int64_t dim, bool, Tensor& values, Tensor& indices) {
  pick(self, dim, values, indices, kNanMedianRank);
}

void mode(Tensor& self, int64_t dim, bool, Tensor& values, Tensor& indices) {
  const int64_t d = wrap_dim(dim, self.dim());
  visit_ordered(self.dtype(), [&]<class T>() {
    std::vector<Rank<T>> ranks;
    for_lines<T>(self, d, [&](const T* x, int64_t n, int64_t line) {
      ranks.clear();
      for (int64_t i = 0; i < n; ++i) ranks.push_back(rank_of<T>(order_key(x[i]), i));
      std::sort(ranks.begin(), ranks.end());
      const auto value = [&](int64_t i) { return load(x[index_of<T>(ranks[size_t(i)])]); };
      int64_t best = 0, longest = 0;  // last place of the longest run
      for (int64_t i = 0, start = 0; i < n; ++i) {
        if (i > 0 && value(i) != value(i - 1)) start = i;
        if (i - start + 1 > longest) {
          longest = i - start + 1;
          best = i;
        }
      }
      const int64_t at = index_of<T>(ranks[size_t(best)]);
      values.data<T>()[line] = x[at];
      indices.data<int64_t>()[line] = at;
    });
  });
}

}  // namespace kernels
}  // namespace vivace
