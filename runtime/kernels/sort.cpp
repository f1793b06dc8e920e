// Sorting of (key, index) pairs: long lines by radix, others by comparing.
#include "runtime/kernels/sort.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "generated/kernels/index/sort.h"
#include "runtime/kernels/convert.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace kernels {
namespace {

constexpr int64_t kRadixLength = 512;  // lines from here on are worth the counting

template <class K>
struct Item {
  K key;
  uint32_t index;
};

/// Least significant digits first, of what keys exceed the least one by: numbers that lie close need few passes, and
/// those in which all digits agree are left out.
template <class K>
void radix_sort(Item<K>* items, Item<K>* buffer, int64_t n) {
  constexpr int kBits = 11, kDigits = 1 << kBits;
  K least = items[0].key, most = items[0].key;
  for (int64_t i = 1; i < n; ++i) {
    least = std::min(least, items[i].key);
    most = std::max(most, items[i].key);
  }
  const int passes = (int(std::bit_width(K(most - least))) + kBits - 1) / kBits;
  std::vector<uint32_t> counts(size_t(passes) * kDigits);
  const auto digit = [&](const Item<K>& item, int pass) {
    return K(item.key - least) >> (pass * kBits) & (kDigits - 1);
  };
  for (int64_t i = 0; i < n; ++i)
    for (int pass = 0; pass < passes; ++pass) ++counts[size_t(pass * kDigits) + digit(items[i], pass)];
  Item<K>*from = items, *to = buffer;
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t* places = counts.data() + pass * kDigits;
    if (places[digit(from[0], pass)] == uint64_t(n)) continue;
    uint32_t sum = 0;
    for (int d = 0; d < kDigits; ++d) {
      const uint32_t count = places[d];
      places[d] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i) to[places[digit(from[i], pass)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::memcpy(items, from, size_t(n) * sizeof(*items));
}

template <class T>
void sort_typed(const T* from, T* values, int64_t* indices, int64_t lines, int64_t n, bool descending) {
  using K = decltype(order_key(T{}));
  if (n == 1) {
    std::copy(from, from + lines, values);
    std::fill(indices, indices + lines, 0);
    return;
  }
  parallel_for(0, lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    Item<K> small[64];
    std::unique_ptr<Item<K>[]> memory;
    const bool radix = n >= kRadixLength * int64_t(sizeof(K)) / 4;
    Item<K>* items = small;
    if (n > 64) {
      memory.reset(new Item<K>[size_t(radix ? 2 * n : n)]);
      items = memory.get();
    }
    for (int64_t line = begin; line < end; ++line) {
      const T* x = from + line * n;
      for (int64_t i = 0; i < n; ++i) {
        const K key = order_key(x[i]);
        items[i] = {descending ? K(~key) : key, uint32_t(i)};
      }
      const auto less = [](const Item<K>& a, const Item<K>& b) {
        return a.key < b.key || (a.key == b.key && a.index < b.index);
      };
      if (radix)
        radix_sort(items, items + n, n);
      else
        std::sort(items, items + n, less);
      T* value = values + line * n;
      int64_t* index = indices + line * n;
      for (int64_t i = 0; i < n; ++i) {
        index[i] = items[i].index;
        value[i] = x[items[i].index];
      }
    }
  });
}

}  // namespace

void sort_lines(DType dtype, const char* from, char* values, int64_t* indices, int64_t lines, int64_t n,
                bool descending) {
  if (lines == 0 || n == 0) return;
  if (n > int64_t(UINT32_MAX)) fail("sort: lines of more than 2^32 elements are not supported");
  visit(dtype, [&]<class T>() {
    if constexpr (!kIsComplex<T>)
      sort_typed(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(values), indices, lines, n, descending);
  });
}

TensorRef with_dim_last(const Tensor& t, int64_t dim) {
  TensorRef moved = vivace::alias(t);
  if (t.dim() <= 1) return moved;
  Dims sizes, strides;
  for (int d = 0; d < t.ndim_; ++d) {
    if (d == dim) continue;
    sizes.push(t.dims_[d]);
    strides.push(t.dims_[t.ndim_ + d]);
  }
  sizes.push(t.dims_[dim]);
  strides.push(t.dims_[t.ndim_ + dim]);
  set_layout(*moved, sizes, strides, t.storage_offset());
  return moved;
}

void sort(Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  if (self.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  const TensorRef lines = contiguous(*with_dim_last(self, d));
  if ((self.dim() <= 1 || d == self.dim() - 1) && values.is_contiguous() && indices.is_contiguous())
    return sort_lines(self.dtype(), lines->raw(), values.raw(), indices.data<int64_t>(), self.numel() / n, n,
                      descending);
  const TensorRef sorted = vivace::empty(lines->sizes(), self.dtype()),
                  places = vivace::empty(lines->sizes(), DType::Int64);
  sort_lines(self.dtype(), lines->raw(), sorted->raw(), places->data<int64_t>(), self.numel() / n, n, descending);
  copy_into(*with_dim_last(values, d), *sorted);
  copy_into(*with_dim_last(indices, d), *places);
}
void sort_stable(Tensor& self, std::optional<bool>, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  sort(self, dim, descending, values, indices);
}

}  // namespace kernels

namespace meta {

std::tuple<TensorRef, TensorRef> sort(Tensor& self, int64_t dim, bool) {
  wrap_dim(dim, self.dim());
  if (is_complex(self.dtype())) fail("sort(): complex tensors cannot be ordered, got ", self.dtype());
  return {empty_like(self), empty_like(self, DType::Int64)};
}
std::tuple<TensorRef, TensorRef> sort_stable(Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  return sort(self, dim, descending);
}

}  // namespace meta
}  // namespace vivace
