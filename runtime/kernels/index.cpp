// Advanced indexing: index and index_put with tensors between the brackets. Index tensors become one list of byte
// offsets into self, checked once; the dims that are not indexed are nests of runs before and after.
#include <algorithm>
#include <cstring>

#include "generated/kernels/index/select.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/masks.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/loop/blocks.h"
#include "runtime/loop/nest.h"

namespace vivace::kernels {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

/// Replaces a mask by the coordinates of its true elements: one index tensor for each of its dims.
void add_mask(const Tensor& self, const Tensor& mask, std::vector<TensorRef>& indices) {
  const int first = int(indices.size());
  for (int d = 0; d < mask.ndim_; ++d) {
    if (first + d >= self.ndim_) fail_index("too many indices for tensor of dimension ", self.dim());
    if (mask.dims_[d] != self.dims_[first + d])
      fail_index("The shape of the mask ", mask.sizes(), " at index ", d,
                 " does not match the shape of the indexed tensor ", self.sizes(), " at index ", first + d);
  }
  if (mask.is_meta()) fail_not_implemented("index: how many elements a mask on the meta device selects is not known");
  const TensorRef dense = contiguous(mask);
  const auto* set = dense->data<uint8_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < dense->numel(); ++i) n += set[i] != 0;
  int64_t* to[kMaxDims];
  const int columns = std::max<int>(1, mask.ndim_);
  for (int d = 0; d < columns; ++d) {
    indices.push_back(empty({n}, DType::Int64));
    to[d] = indices.back()->data<int64_t>();
  }
  mask_coordinates(set, mask.ndim_ ? mask.sizes() : IntList(Dims{1}), n, to);
}

/// The only index that is given if it is a mask over self's first dims; else null.
const Tensor* only_mask(const Tensor& self, TensorList indices) {
  if (indices.empty() || !indices[0] || !is_mask(*indices[0])) return nullptr;
  for (size_t k = 1; k < indices.size(); ++k)
    if (indices[k]) return nullptr;
  const Tensor& mask = *indices[0];
  if (mask.ndim_ == 0 || mask.ndim_ > self.ndim_ || mask.is_meta()) return nullptr;
  return std::equal(mask.dims_, mask.dims_ + mask.ndim_, self.dims_) ? &mask : nullptr;
}

/// One element to the places that a mask over the first dims of `out` names.
void fill_masked(Tensor& out, const Tensor& mask, const Tensor& value) {
  const TensorRef element = vivace::to_dtype(value, out.dtype()), places = vivace::alias(mask);
  Dims strides(mask.strides());
  for (int d = mask.ndim_; d < out.ndim_; ++d) strides.push(0);
  set_layout(*places, out.sizes(), strides, places->storage_offset());
  const Nest<2> nest = make_nest<2>(out.sizes(), {&out, places.get()});
  visit_bits(out.dtype(), [&]<class T>() {
    const T x = *element->data<T>();
    nest.run([&](char** p, int64_t n, const int64_t* s) {
      T* to = reinterpret_cast<T*>(p[0]);
      const auto* set = reinterpret_cast<const uint8_t*>(p[1]);
      if (s[0] == sizeof(T) && s[1] == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = set[i] ? x : to[i];
      } else {
        for (int64_t i = 0; i < n; ++i)
          if (set[i * s[1]]) *reinterpret_cast<T*>(p[0] + i * s[0]) = x;
      }
    });
  });
}

class Selection {
 public:
  Selection(const Tensor& self, TensorList given) : self_(vivace::alias(self)) {
    collect(given);
    if (has_values_) add_offsets();
  }

  IntList result_sizes() const { return sizes_; }
  Device result_device() const { return has_values_ ? self_->device() : Device{DeviceType::Meta}; }

  /// Strides of a dense result whose dims are ordered as self's and the indices' are, as PyTorch lays it out.
  Dims result_strides() const {
    if (self_->is_contiguous() &&
        std::ranges::all_of(indices_, [](const TensorRef& i) { return !i || i->is_contiguous(); }))
      return contiguous_strides(sizes_);
    std::vector<Dims> memory;
    auto add = [&](auto stride_at) {
      Dims& strides = memory.emplace_back(IntList(sizes_));
      for (int k = 0; k < sizes_.n; ++k) strides[k] = stride_at(k);
    };
    const auto picked = [&](int k) { return k >= result_at_ && k < result_at_ + shape_.n; };
    int d = 0;
    add([&](int k) {
      if (picked(k)) return int64_t(0);
      while (indexed(d)) ++d;
      return self_->dims_[self_->ndim_ + d++];
    });
    for (const TensorRef& index : indices_) {
      if (!index) continue;
      const int lead = result_at_ + shape_.n - index->ndim_;
      add([&](int k) {
        return picked(k) && k >= lead && index->dims_[k - lead] > 1 ? index->strides()[size_t(k - lead)] : 0;
      });
    }
    std::vector<const int64_t*> strides;
    for (Dims& list : memory) strides.push_back(list.v);
    int order[kMaxDims];
    order_dims(sizes_, strides.data(), int(strides.size()), order);
    Dims result(sizes_);
    int64_t step = 1;
    for (int i = 0; i < sizes_.n; ++i) {
      result[order[i]] = step;
      step *= std::max<int64_t>(sizes_[order[i]], 1);
    }
    return result;
  }

  /// Calls f(pointer into `with`, step of `with`, pointer into self, step of self, n) for all runs. `with` has the
  /// result's shape and any strides.
  template <class F>
  void run(const Tensor& with, F&& f) const {
    if (count(sizes_) == 0) return;
    const int64_t size = int64_t(with.item_size());
    const IntList steps = with.strides();
    Nest<2> before, after;
    Nest<1> picks;
    before.base[0] = after.base[0] = picks.base[0] = with.raw();
    before.base[1] = after.base[1] = self_->raw();
    for (int k = sizes_.n - 1, d = self_->ndim_ - 1; k >= result_at_ + shape_.n; --k) {
      while (indexed(d)) --d;
      after.push(sizes_[k], {steps[k] * size, self_step(d--)});
    }
    for (int k = result_at_ + shape_.n - 1; k >= result_at_; --k) picks.push(sizes_[k], {steps[k] * size});
    for (int k = result_at_ - 1; k >= 0; --k) before.push(sizes_[k], {steps[k] * size, self_step(k)});
    after.coalesce();
    picks.coalesce();
    before.coalesce();
    const int64_t* offsets = offsets_->data<int64_t>();
    before.run([&](char** b, int64_t nb, const int64_t* sb) {
      for (int64_t i = 0; i < nb; ++i) {
        const int64_t* offset = offsets;
        picks.for_runs({b[0] + i * sb[0]}, 0, picks.runs(), [&](char** p, int64_t n, const int64_t* sp) {
          char* start = b[1] + i * sb[1];
          if (after.numel == 1) {  // f is told so by a constant
            for (int64_t k = 0; k < n; ++k)
              f(p[0] + k * sp[0], 0, start + offset[k], 0, std::integral_constant<int64_t, 1>());
            offset += n;
          } else if (after.ndim <= 1) {
            const int64_t m = after.inner_size(), *sa = after.inner_strides();
            for (int64_t k = 0; k < n; ++k) f(p[0] + k * sp[0], sa[0], start + *offset++, sa[1], m);
          } else {
            for (int64_t k = 0; k < n; ++k) {
              after.for_runs({p[0] + k * sp[0], start + *offset++}, 0, after.runs(),
                             [&](char** a, int64_t m, const int64_t* sa) { f(a[0], sa[0], a[1], sa[1], m); });
            }
          }
        });
      }
    });
  }

 private:
  bool indexed(int d) const { return indices_[d].get() != nullptr; }
  int64_t self_step(int d) const { return self_->dims_[self_->ndim_ + d] * int64_t(self_->item_size()); }

  void collect(TensorList given) {
    for (Tensor* index : given) {
      has_values_ &= !self_->is_meta() && !(index && index->is_meta());
      if (!index) {
        indices_.emplace_back();
      } else if (is_mask(*index)) {
        if (index->dim() == 0) put_dim_in(int(indices_.size()));
        add_mask(*self_, *index, indices_);
      } else {
        if (index->dtype() != DType::Int64 && index->dtype() != DType::Int32)
          fail_index("tensors used as indices must be long, int, byte or bool tensors");
        indices_.push_back(vivace::to_dtype(*index, DType::Int64));
      }
    }
    if (int(indices_.size()) > self_->ndim_) fail_index("too many indices for tensor of dimension ", self_->dim());
    indices_.resize(size_t(self_->ndim_));
    first_ = last_ = -1;
    int chosen = 0;
    for (int d = 0; d < self_->ndim_; ++d) {
      if (!indexed(d)) continue;
      const IntList other = indices_[d]->sizes();
      if (first_ < 0) {
        first_ = d;
        shape_ = Dims(other);
      } else {
        check_fit(other);
        shape_ = broadcast_sizes(shape_, other);
      }
      last_ = d;
      ++chosen;
    }
    if (first_ < 0) fail_index("index: at least one index must be a tensor");
    result_at_ = last_ - first_ + 1 == chosen ? first_ : 0;
    for (int d = 0; d < self_->ndim_; ++d) {
      if (d == result_at_)
        for (int64_t s : shape_) sizes_.push(s);
      if (!indexed(d)) sizes_.push(self_->dims_[d]);
    }
  }

  /// A 0-dim mask selects all or nothing of a new dim of size 1.
  void put_dim_in(int at) {
    Dims sizes, strides;
    for (int d = 0; d <= self_->ndim_; ++d) {
      if (d == at) {
        sizes.push(1);
        strides.push(0);
      }
      if (d == self_->ndim_) break;
      sizes.push(self_->dims_[d]);
      strides.push(self_->dims_[self_->ndim_ + d]);
    }
    set_layout(*self_, sizes, strides, self_->storage_offset());
  }

  void check_fit(IntList other) const {
    for (int k = 1; k <= std::min<int>(shape_.n, int(other.size())); ++k) {
      const int64_t a = shape_[shape_.n - k], b = other[other.size() - size_t(k)];
      if (a != b && a != 1 && b != 1)
        fail_index("shape mismatch: indexing tensors could not be broadcast together with shapes ", IntList(shape_),
                   ", ", other);
    }
  }

  void add_offsets() {
    offsets_ = vivace::empty(shape_, DType::Int64);
    if (offsets_->numel() == 0) return;
    bool started = false;
    for (int d = first_; d <= last_; ++d) {
      if (!indexed(d)) continue;
      const int64_t limit = self_->dims_[d], step = self_step(d);
      const Nest<2> nest = make_nest<2>(shape_, {offsets_.get(), indices_[d].get()});
      nest.run([&](char** p, int64_t n, const int64_t* s) {
        const auto* index = reinterpret_cast<const int64_t*>(p[1]);
        auto* offset = reinterpret_cast<int64_t*>(p[0]);
        if (s[0] == sizeof(int64_t) && s[1] == sizeof(int64_t) && move_loops().all_below(index, n, limit)) {
          if (started)
            for (int64_t i = 0; i < n; ++i) offset[i] += index[i] * step;
          else
            for (int64_t i = 0; i < n; ++i) offset[i] = index[i] * step;
          return;
        }
        for (int64_t i = 0; i < n; ++i) {
          const int64_t index = *reinterpret_cast<const int64_t*>(p[1] + i * s[1]);
          const int64_t at = index < 0 ? index + limit : index;
          if (uint64_t(at) >= uint64_t(limit)) [[unlikely]]
            fail_index("index ", index, " is out of bounds for dimension ", d, " with size ", limit);
          int64_t& offset = *reinterpret_cast<int64_t*>(p[0] + i * s[0]);
          offset = started ? offset + at * step : at * step;
        }
      });
      started = true;
    }
  }

  TensorRef self_;                  // an alias: 0-dim masks change its layout
  std::vector<TensorRef> indices_;  // one for each dim of self; null: the whole dim
  Dims shape_, sizes_;              // of the indices' broadcast shape, of the result
  bool has_values_ = true;          // nothing is on the meta device
  int first_, last_, result_at_;    // dims of self that are indexed; where shape_ stands in sizes_
  TensorRef offsets_;
};

template <class T>
void move(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  if (n == 1)
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  else if (to_step == sizeof(T) && from_step == sizeof(T))
    std::memcpy(to, from, size_t(n) * sizeof(T));
  else
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<T*>(to + i * to_step) = *reinterpret_cast<const T*>(from + i * from_step);
}

/// `values` in self's dtype, seen with the result's sizes.
TensorRef spread(const Tensor& values, const Tensor& self, IntList sizes) {
  TensorRef v = vivace::alias(*vivace::to_dtype(values, self.dtype()));
  const int lead = int(sizes.size()) - v->ndim_;
  Dims strides;
  for (int d = 0; d < int(sizes.size()); ++d) {
    const int at = d - lead;
    const int64_t have = at < 0 ? 1 : v->dims_[at];
    strides.push(have == 1 ? 0 : v->dims_[v->ndim_ + at]);
  }
  set_layout(*v, sizes, strides, v->storage_offset());
  return v;
}

void check_values(const Tensor& values, IntList sizes) {
  // Leading dims of size 1 may be too many.
  int lead = 0;
  while (values.ndim_ - lead > int(sizes.size()) && values.dims_[lead] == 1) ++lead;
  const int n = values.ndim_ - lead, shift = int(sizes.size()) - n;
  bool fits = shift >= 0;
  for (int d = 0; fits && d < n; ++d)
    fits = values.dims_[lead + d] == 1 || values.dims_[lead + d] == sizes[size_t(shift + d)];
  if (!fits)
    fail("shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ",
         sizes);
}

}  // namespace

TensorRef index_Tensor(Tensor& self, TensorList indices) {
  const Selection selection(self, indices);
  TensorRef out = vivace::empty_strided(selection.result_sizes(), selection.result_strides(), self.dtype(),
                                        selection.result_device());
  if (out->is_meta()) return out;
  visit_bits(self.dtype(), [&]<class T>() {
    selection.run(*out, [](char* to, int64_t to_step, const char* from, int64_t from_step, auto n) {
      move<T>(to, to_step, from, from_step, n);
    });
  });
  return out;
}

void index_put(Tensor& self, TensorList indices, Tensor& values, bool accumulate, Tensor& out) {
  if (&out != &self) copy_into(out, self);
  if (values.dtype() != self.dtype() && values.dim() > 0)
    fail("Index put requires the source and destination dtypes match, got ", self.dtype(), " for the destination and ",
         values.dtype(), " for the source.");
  if (const Tensor* mask = accumulate || values.dim() > 0 ? nullptr : only_mask(out, indices))
    return fill_masked(out, *mask, values);
  const Selection selection(out, indices);
  check_values(values, selection.result_sizes());
  TensorRef source = TensorRef::share(&values);
  if (values.dim() > int64_t(selection.result_sizes().size())) {  // drop leading dims of size 1
    source = vivace::alias(values);
    const int drop = int(values.dim() - int64_t(selection.result_sizes().size()));
    set_layout(*source, values.sizes().subspan(size_t(drop)), values.strides().subspan(size_t(drop)),
               values.storage_offset());
  }
  const TensorRef with = spread(*source, out, selection.result_sizes());
  if (!accumulate) {
    return visit_bits(self.dtype(), [&]<class T>() {
      selection.run(*with, [](char* from, int64_t from_step, char* to, int64_t to_step, auto n) {
        move<T>(to, to_step, from, from_step, n);
      });
    });
  }
  visit(self.dtype(), [&]<class T>() {
    selection.run(*with, [](char* from, int64_t from_step, char* to, int64_t to_step, auto n) {
      for (int64_t i = 0; i < n; ++i) {
        T& x = *reinterpret_cast<T*>(to + i * to_step);
        const T y = *reinterpret_cast<const T*>(from + i * from_step);
        if constexpr (kIsComplex<T>)
          x = {x.re + y.re, x.im + y.im};
        else if constexpr (std::is_same_v<T, bool>)
          x = x || y;
        else
          x = convert<T>(load(x) + load(y));
      }
    });
  });
}

}  // namespace vivace::kernels

namespace vivace::meta {

TensorRef index_put(Tensor& self, TensorList, Tensor&, bool) { return empty_like(self); }

}  // namespace vivace::meta
