// Elements picked by rank along a dim: topk, kthvalue, median, mode. Each line is copied as (order, index) and
// partially sorted.
#include <algorithm>
#include <vector>

#include "generated/kernels/index/sort.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/sort.h"

namespace vivace {
namespace {

void check_ordered(const Tensor& self, const char* op) {
  if (is_complex(self.dtype())) fail("\"", op, "\" not implemented for '", self.dtype(), "'");
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

template <class T>
struct Entry {
  ComputeType<T> value;
  int64_t index;
};
/// NaN is the largest; equals by place.
template <class T>
bool before(const Entry<T>& a, const Entry<T>& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan || b_nan) return a_nan == b_nan ? a.index < b.index : b_nan;
  return a.value != b.value ? a.value < b.value : a.index < b.index;
}
template <class T>
bool before_descending(const Entry<T>& a, const Entry<T>& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan || b_nan) return a_nan == b_nan ? a.index < b.index : a_nan;
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

/// Calls f(entries of a line, n, line's number) with the dim's lines one after the other.
template <class T, class F>
void for_lines(const Tensor& self, int64_t d, F&& f) {
  const TensorRef lines = contiguous(*with_dim_last(self, d));
  const int64_t n = self.size(d);
  if (lines->numel() == 0) return;
  std::vector<Entry<T>> entries(static_cast<size_t>(n));
  for (int64_t line = 0; line < lines->numel() / n; ++line) {
    const T* x = lines->data<T>() + line * n;
    for (int64_t i = 0; i < n; ++i) entries[size_t(i)] = {load(x[i]), i};
    f(entries.data(), n, line);
  }
}

template <class F>
void visit_ordered(DType dtype, F&& f) {
  visit(dtype, [&]<class T>() {
    if constexpr (!kIsComplex<T>) f.template operator()<T>();
  });
}

/// Stores the entry of rank rank(entries, n) of each line.
template <class F>
void pick(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices, F&& rank) {
  const int64_t d = wrap_dim(dim, self.dim());
  visit_ordered(self.dtype(), [&]<class T>() {
    for_lines<T>(self, d, [&](Entry<T>* e, int64_t n, int64_t line) {
      const int64_t k = rank(e, n);
      std::nth_element(e, e + k, e + n, before<T>);
      values.data<T>()[line] = convert<T>(e[k].value);
      indices.data<int64_t>()[line] = e[k].index;
    });
  });
}

template <class E>
int64_t count_nan(const E* e, int64_t n) {
  return std::count_if(e, e + n, [](const E& x) { return x.value != x.value; });
}

/// NaN if there is one, else the middle one.
constexpr auto kMedianRank = [](auto* e, int64_t n) { return count_nan(e, n) ? n - count_nan(e, n) : (n - 1) / 2; };
constexpr auto kNanMedianRank = [](auto* e, int64_t n) {
  const int64_t present = n - count_nan(e, n);
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
    for_lines<T>(self, d, [&](Entry<T>* e, int64_t n, int64_t line) {
      const auto order = largest ? before_descending<T> : before<T>;
      if (k < n) std::nth_element(e, e + k - 1, e + n, order);
      std::sort(e, e + k, order);
      for (int64_t i = 0; i < k; ++i) {
        v->data<T>()[line * k + i] = convert<T>(e[i].value);
        x->data<int64_t>()[line * k + i] = e[i].index;
      }
    });
  });
  copy_into(*with_dim_last(values, d), *v);
  copy_into(*with_dim_last(indices, d), *x);
}

void kthvalue(Tensor& self, int64_t k, int64_t dim, bool, Tensor& values, Tensor& indices) {
  pick(self, dim, values, indices, [k](auto*, int64_t) { return k - 1; });
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
    for_lines<T>(self, d, [&](Entry<T>* e, int64_t n, int64_t line) {
      std::sort(e, e + n, before<T>);
      int64_t best = 0, longest = 0;  // last place of the longest run
      for (int64_t i = 0, start = 0; i < n; ++i) {
        if (i > 0 && e[i].value != e[i - 1].value) start = i;
        if (i - start + 1 > longest) {
          longest = i - start + 1;
          best = i;
        }
      }
      values.data<T>()[line] = convert<T>(e[best].value);
      indices.data<int64_t>()[line] = e[best].index;
    });
  });
}

}  // namespace kernels
}  // namespace vivace
