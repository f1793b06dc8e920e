// Repetition by counts, one-hot vectors, equality of whole tensors.
#include <cstring>

#include "generated/kernels/index/repeat.h"
#include "runtime/core/promote.h"
#include "runtime/core/saturate.h"
#include "runtime/kernels/convert.h"
#include "runtime/loop/nest.h"

namespace vivace::kernels {

TensorRef repeat_interleave_Tensor(Tensor& repeats, std::optional<int64_t> output_size) {
  if (repeats.dim() != 1) fail("repeat_interleave only accept 1D vector as repeat");
  if (repeats.dtype() != DType::Int64 && repeats.dtype() != DType::Int32) fail("repeats has to be Long or Int tensor");
  const TensorRef counts = contiguous(*vivace::to_dtype(repeats, DType::Int64));
  const int64_t* p = counts->data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts->numel(); ++i) {
    if (p[i] < 0) fail("repeats can not be negative");
    if (__builtin_add_overflow(total, p[i], &total)) fail("repeat_interleave: the sum of the repeats overflows");
  }
  if (output_size && *output_size != total) fail("allocated size does not match required size");
  TensorRef out = vivace::empty({total}, DType::Int64);
  int64_t* to = out->data<int64_t>();
  for (int64_t i = 0; i < counts->numel(); ++i)
    for (int64_t k = 0; k < p[i]; ++k) *to++ = i;
  return vivace::to_dtype(*out, repeats.dtype());
}

TensorRef one_hot(Tensor& tensor, int64_t num_classes) {
  if (tensor.dtype() != DType::Int64) fail("one_hot is only applicable to index tensor of type LongTensor.");
  const TensorRef index = contiguous(tensor);
  const int64_t* p = index->data<int64_t>();
  if (tensor.numel() == 0 && num_classes <= 0) fail("Can not infer total number of classes from empty tensor.");
  int64_t largest = -1;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    if (p[i] < 0) fail("Class values must be non-negative.");
    largest = std::max(largest, p[i]);
  }
  if (num_classes == -1) num_classes = saturating_sum(largest, 1);
  if (num_classes < 1) fail("num_classes should be positive");
  if (largest >= num_classes) fail("Class values must be smaller than num_classes.");
  Dims sizes(tensor.sizes());
  sizes.push(num_classes);
  TensorRef out = vivace::empty(sizes, DType::Int64);
  fill_into(*out, 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) out->data<int64_t>()[i * num_classes + p[i]] = 1;
  return out;
}

bool equal(Tensor& self, Tensor& other) {
  if (self.ndim_ != other.ndim_ || std::memcmp(self.dims_, other.dims_, self.ndim_ * sizeof(int64_t)) != 0)
    return false;
  const DType dtype = promote_types(self.dtype(), other.dtype());
  const TensorRef a = vivace::to_dtype(self, dtype), b = vivace::to_dtype(other, dtype);
  const Nest<2> nest = make_nest<2>(self.sizes(), {a.get(), b.get()});
  bool same = true;
  visit(dtype, [&]<class T>() {
    nest.run([&](char** p, int64_t n, const int64_t* s) {
      for (int64_t i = 0; same && i < n; ++i) {
        const T x = *reinterpret_cast<const T*>(p[0] + i * s[0]), y = *reinterpret_cast<const T*>(p[1] + i * s[1]);
        if constexpr (kIsComplex<T>)
          same = x.re == y.re && x.im == y.im;
        else
          same = load(x) == load(y);
      }
    });
  });
  return same;
}

}  // namespace vivace::kernels
