// Which dtype a result has: PyTorch's promotion lattice, and its three ranks of operands (tensors with dims, 0-dim
// tensors, numbers): a lower rank only matters where its class (bool, integer, float, complex) is higher.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

/// Of two operands that count alike. Throws for uint16, uint32, uint64 with other integers or complex types.
DType promote_types(DType a, DType b);

/// Whether a value may be written to a result of another dtype: not complex to real, float to integer, number to bool.
bool can_cast(DType from, DType to);

/// The dtype that a Python number stands for.
DType dtype_of(const Scalar& scalar);

/// Collects operands; `dtype()` is that of the result.
class ResultType {
 public:
  void add(const Tensor& t) { add(t.dim() > 0 ? 0 : 1, t.dtype()); }
  void add(const Scalar& scalar) { add(2, dtype_of(scalar)); }
  /// Throws if nothing was added.
  DType dtype() const;

 private:
  void add(int rank, DType t) {
    ranks_[rank] = present_ & (1 << rank) ? promote_types(ranks_[rank], t) : t;
    present_ |= 1 << rank;
  }
  DType ranks_[3];
  int present_ = 0;
};

inline DType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) [[likely]]
    return a.dtype();
  ResultType r;
  r.add(a);
  r.add(b);
  return r.dtype();
}
inline DType result_type(const Tensor& a, const Scalar& b) {
  ResultType r;
  r.add(a);
  r.add(b);
  return r.dtype();
}
inline DType result_type(TensorList tensors) {
  ResultType r;
  for (Tensor* t : tensors) r.add(*t);
  return r.dtype();
}

}  // namespace vivace
