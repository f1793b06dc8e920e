// Distinct elements, or slices along a dim, with how often each occurs and where.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "generated/kernels/index/sort.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/sort.h"

namespace vivace::kernels {
namespace {

/// Rows of equal width, compared element by element.
template <class T>
struct Rows {
  const T* data;
  int64_t width;
  int compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      const auto x = load(data[a * width + i]), y = load(data[b * width + i]);
      if (less(x, y)) return -1;
      if (less(y, x)) return 1;
    }
    return 0;
  }
  /// NaN differs from NaN.
  bool equal(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i)
      if (!(load(data[a * width + i]) == load(data[b * width + i]))) return false;
    return true;
  }
};

using Three = std::tuple<TensorRef, TensorRef, TensorRef>;

/// Integers within a range that is not much larger than their number are counted in a table of it.
template <class T>
bool count_distinct(const T* x, int64_t n, Tensor* inverse, TensorRef& values, TensorRef& times) {
  if (n == 0) return false;
  const auto [low, high] = std::minmax_element(x, x + n);
  const T least = *low;
  const uint64_t span = uint64_t(*high) - uint64_t(least);
  if (span >= uint64_t(std::max<int64_t>(n, 1024))) return false;
  const auto place = [&](T v) { return size_t(uint64_t(v) - uint64_t(least)); };
  std::vector<int64_t> counts(size_t(span) + 1);
  for (int64_t i = 0; i < n; ++i) ++counts[place(x[i])];
  const int64_t m = int64_t(counts.size()) - std::ranges::count(counts, 0);
  values = vivace::empty({m}, values->dtype());
  times = vivace::empty({m}, DType::Int64);
  int64_t at = 0;
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k]) {
      values->data<T>()[at] = T(uint64_t(least) + k);
      times->data<int64_t>()[at] = counts[k];
      counts[k] = at++;  // from here on: which of the distinct ones it is
    }
  if (inverse) {
    int64_t* which = inverse->data<int64_t>();
    for (int64_t i = 0; i < n; ++i) which[i] = counts[place(x[i])];
  }
  return true;
}

/// The runs of equals in n elements, how long they are if that is wanted, and the run of each element if `which` is not
/// null. Without branches on the elements.
template <class T>
void join_runs(const T* x, int64_t n, int64_t* which, bool wants_counts, TensorRef& values, TensorRef& counts) {
  const auto ends = [x](int64_t i) { return load(x[i]) != load(x[i + 1]); };
  values = vivace::empty({n}, values->dtype());
  counts = vivace::empty({0}, DType::Int64);
  if (n == 0) return;
  T* value = values->data<T>();
  int64_t run = 0;
  for (int64_t i = 0; i + 1 < n; ++i) {
    value[run] = x[i];
    if (which) which[i] = run;
    run += ends(i);
  }
  value[run] = x[n - 1];
  if (which) which[n - 1] = run;
  const int64_t runs = run + 1;
  set_layout(*values, Dims{runs}, Dims{1}, 0);
  if (runs < n / 2) values = clone_of(*values);  // holds no memory that it has no use for
  if (!wants_counts) return;
  counts = vivace::empty({runs}, DType::Int64);
  int64_t* end = counts->data<int64_t>();
  run = 0;
  for (int64_t i = 0; i + 1 < n; ++i) {
    end[run] = i + 1;
    run += ends(i);
  }
  end[run] = n;
  for (int64_t k = runs - 1; k > 0; --k) end[k] -= end[k - 1];
}

Three distinct(Tensor& self, std::optional<int64_t> dim, bool in_order, bool wants_inverse, bool wants_counts) {
  if (is_complex(self.dtype())) fail_not_implemented("\"unique\" not implemented for '", self.dtype(), "'");
  const int64_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  // Rows to compare: slices along dim, or the single elements.
  TensorRef rows;
  Dims rest;
  int64_t n = self.numel(), width = 1;
  if (dim && self.dim() > 0) {
    Dims sizes{self.dims_[d]}, strides{self.dims_[self.ndim_ + d]};
    for (int k = 0; k < self.ndim_; ++k) {
      if (k == d) continue;
      sizes.push(self.dims_[k]);
      strides.push(self.dims_[self.ndim_ + k]);
      rest.push(self.dims_[k]);
    }
    const TensorRef moved = vivace::alias(self);
    set_layout(*moved, sizes, strides, self.storage_offset());
    rows = contiguous(*moved);
    n = self.dims_[d];
    width = count(rest);
    if (width == 0 && n > 0)
      fail("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  } else {
    rows = contiguous(self);
  }
  const IntList inverse_sizes = dim && self.dim() > 0 ? IntList(&n, 1) : self.sizes();
  const TensorRef inverse = vivace::empty(wants_inverse ? inverse_sizes : IntList(Dims{0}), DType::Int64);
  TensorRef values = vivace::empty({0}, self.dtype()), times;
  visit(self.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (!in_order && width == 1 && rest.n == 0 &&
          count_distinct(rows->data<T>(), n, wants_inverse ? inverse.get() : nullptr, values, times))
        return;
    if constexpr (!kIsComplex<T>) {
      if (in_order && width == 1 && rest.n == 0)
        return join_runs(rows->data<T>(), n, wants_inverse ? inverse->data<int64_t>() : nullptr, wants_counts, values,
                         times);
      std::vector<int64_t> order(static_cast<size_t>(n)), chosen, counts;
      std::iota(order.begin(), order.end(), 0);
      const Rows<T> table{rows->data<T>(), width};
      TensorRef sorted;  // where rows are single elements
      if (!in_order && width == 1 && n > 1) {
        sorted = vivace::empty({n}, self.dtype());
        sort_lines(self.dtype(), rows->raw(), sorted->raw(), order.data(), 1, n, false);
      } else if (!in_order) {
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return table.compare(a, b) < 0; });
      }
      const auto repeats = [&](int64_t i) {
        return sorted ? load(sorted->data<T>()[i - 1]) == load(sorted->data<T>()[i])
                      : table.equal(order[size_t(i - 1)], order[size_t(i)]);
      };
      for (int64_t i = 0; i < n; ++i) {
        const int64_t row = order[size_t(i)];
        if (i == 0 || !repeats(i)) {
          chosen.push_back(row);
          counts.push_back(0);
        }
        ++counts.back();
        if (wants_inverse) inverse->data<int64_t>()[row] = int64_t(chosen.size()) - 1;
      }
      const int64_t m = int64_t(chosen.size());
      Dims sizes{m};
      for (int64_t s : rest) sizes.push(s);
      values = vivace::empty(sizes, self.dtype());
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(values->data<T>() + i * width, table.data + chosen[size_t(i)] * width, size_t(width) * sizeof(T));
      times = vivace::empty({m}, DType::Int64);
      std::ranges::copy(counts, times->data<int64_t>());
    }
  });
  if (!wants_counts) times = vivace::empty({0}, DType::Int64);
  if (d > 0) {  // slices go back to their dim
    Dims sizes, strides;
    const IntList now = values->strides();
    for (int k = 0, next = 1; k < self.ndim_; ++k) {
      sizes.push(k == d ? values->dims_[0] : self.dims_[k]);
      strides.push(k == d ? now[0] : now[size_t(next++)]);
    }
    const TensorRef moved = vivace::alias(*values);
    set_layout(*moved, sizes, strides, 0);
    values = contiguous(*moved);
  }
  return {std::move(values), inverse, std::move(times)};
}

}  // namespace

Three _unique(Tensor& self, bool, bool inverse, bool counts, std::optional<int64_t> dim) {
  return distinct(self, dim, false, inverse, counts);
}
Three _unique_consecutive(Tensor& self, bool inverse, bool counts, std::optional<int64_t> dim) {
  return distinct(self, dim, true, inverse, counts);
}

}  // namespace vivace::kernels
