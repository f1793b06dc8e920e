// Reductions over "is it zero": all, any, count_nonzero.
#include "generated/kernels/reduce/truth.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/reduce.h"

namespace vivace {
namespace {

using DimList = std::optional<IntList>;

/// bool, but uint8 for uint8 as PyTorch has it.
DType truth_dtype(const Tensor& self) { return self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool; }
TensorRef truth(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  return empty(kernels::reduced_sizes(self, mask, keepdim), dtype, self.device());
}
uint64_t one_dim(const Tensor& self, int64_t dim) { return uint64_t(1) << wrap_dim(dim, self.dim()); }
uint64_t every_dim(const Tensor& self) { return dim_mask(std::nullopt, self.dim()); }
/// Here an empty list means: no dim.
uint64_t listed_dims(const Tensor& self, DimList dim) { return dim && dim->empty() ? 0 : dim_mask(dim, self.dim()); }

}  // namespace

namespace meta {

TensorRef all(Tensor& self) { return truth(self, every_dim(self), false, truth_dtype(self)); }
TensorRef all_dim(Tensor& self, int64_t dim, bool keepdim) {
  return truth(self, one_dim(self, dim), keepdim, truth_dtype(self));
}
TensorRef all_dims(Tensor& self, DimList dim, bool keepdim) {
  return truth(self, listed_dims(self, dim), keepdim, truth_dtype(self));
}
TensorRef any(Tensor& self) { return all(self); }
TensorRef any_dim(Tensor& self, int64_t dim, bool keepdim) { return all_dim(self, dim, keepdim); }
TensorRef any_dims(Tensor& self, DimList dim, bool keepdim) { return all_dims(self, dim, keepdim); }
TensorRef count_nonzero_dim_IntList(Tensor& self, IntList dim) {
  return truth(self, dim_mask(dim, self.dim()), false, DType::Int64);
}
TensorRef count_nonzero(Tensor& self, std::optional<int64_t> dim) {
  return truth(self, dim ? one_dim(self, *dim) : every_dim(self), false, DType::Int64);
}

}  // namespace meta

namespace kernels {
namespace {

/// Counts the elements that are not zero (for all: those that are) and stores the count or what follows from it.
struct TruthPolicy {
  enum Kind { All, Any, Count };
  using In = bool;
  using Acc = int64_t;
  Kind kind;
  DType out_type;
  DType in_type = DType::Bool;
  int64_t init = 0;

  void inner(const bool* p, int64_t n, int64_t& acc) const {
    if (kind != Count && acc > 0) return;  // decided
    const auto* bytes = reinterpret_cast<const uint8_t*>(p);
    constexpr int64_t kBlock = 128;  // counted in bytes, side by side
    int64_t set = 0, i = 0;
    while (i + kBlock <= n) {
      uint8_t counts[kBlock] = {};
      const int64_t end = std::min(n - kBlock, i + 254 * kBlock);
      for (; i <= end; i += kBlock)
        for (int64_t k = 0; k < kBlock; ++k) counts[k] = uint8_t(counts[k] + (bytes[i + k] != 0));
      for (int64_t k = 0; k < kBlock; ++k) set += counts[k];
    }
    for (; i < n; ++i) set += bytes[i] != 0;
    acc += kind == All ? n - set : set;
  }
  void outer(const bool* p, int64_t rows, int64_t step, int64_t columns, int64_t* accs) const {
    constexpr int64_t kRows = 255;  // what a byte counts
    const auto* bytes = reinterpret_cast<const uint8_t*>(p);
    const uint8_t unwanted = kind == All;
    uint8_t counts[kReduceColumns];
    for (int64_t first = 0; first < rows; first += kRows) {
      std::fill_n(counts, columns, uint8_t(0));
      const int64_t end = std::min(rows, first + kRows);
      for (int64_t r = first; r < end; ++r)
        for (int64_t c = 0; c < columns; ++c) counts[c] = uint8_t(counts[c] + (bytes[r * step + c] != unwanted));
      for (int64_t c = 0; c < columns; ++c) accs[c] += counts[c];
    }
  }
  void merge(int64_t& acc, int64_t other) const { acc += other; }
  void store(int64_t n, char* out) const {
    if (kind == Count)
      *reinterpret_cast<int64_t*>(out) = n;
    else
      *reinterpret_cast<uint8_t*>(out) = kind == All ? n == 0 : n > 0;
  }
};

void truth_into(TruthPolicy::Kind kind, const Tensor& in, uint64_t mask, Tensor& out) {
  reduce(TruthPolicy{kind, out.dtype()}, in, out, mask);
}

}  // namespace

void all(Tensor& self, Tensor& out) { truth_into(TruthPolicy::All, self, every_dim(self), out); }
void all_dim(Tensor& self, int64_t dim, bool, Tensor& out) {
  truth_into(TruthPolicy::All, self, one_dim(self, dim), out);
}
void all_dims(Tensor& self, DimList dim, bool, Tensor& out) {
  truth_into(TruthPolicy::All, self, listed_dims(self, dim), out);
}
void any(Tensor& self, Tensor& out) { truth_into(TruthPolicy::Any, self, every_dim(self), out); }
void any_dim(Tensor& self, int64_t dim, bool, Tensor& out) {
  truth_into(TruthPolicy::Any, self, one_dim(self, dim), out);
}
void any_dims(Tensor& self, DimList dim, bool, Tensor& out) {
  truth_into(TruthPolicy::Any, self, listed_dims(self, dim), out);
}
void count_nonzero_dim_IntList(Tensor& self, IntList dim, Tensor& out) {
  truth_into(TruthPolicy::Count, self, dim_mask(dim, self.dim()), out);
}
void count_nonzero(Tensor& self, std::optional<int64_t> dim, Tensor& out) {
  truth_into(TruthPolicy::Count, self, dim ? one_dim(self, *dim) : every_dim(self), out);
}

}  // namespace kernels
}  // namespace vivace
