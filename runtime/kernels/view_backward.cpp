// Puts the gradient of a part back into zeros of the whole. Each is its view's transpose, made by writing through that
// view.
#include "generated/kernels/view/parts.h"
#include "generated/kernels/view/regroup.h"
#include "runtime/kernels/convert.h"
#include "runtime/loop/nest.h"

namespace vivace {
namespace meta {

TensorRef select_backward(Tensor& self, IntList input_sizes, int64_t, int64_t) {
  return empty(input_sizes, self.dtype(), self.device());
}
TensorRef slice_backward(Tensor& self, IntList input_sizes, int64_t, std::optional<int64_t>, std::optional<int64_t>,
                         int64_t) {
  return empty(input_sizes, self.dtype(), self.device());
}
TensorRef diagonal_backward(Tensor& self, IntList input_sizes, int64_t, int64_t, int64_t) {
  return empty(input_sizes, self.dtype(), self.device());
}
TensorRef unfold_backward(Tensor& self, IntList input_sizes, int64_t, int64_t, int64_t) {
  return empty(input_sizes, self.dtype(), self.device());
}

}  // namespace meta

namespace kernels {

void select_backward(Tensor& self, IntList, int64_t dim, int64_t index, Tensor& out) {
  fill_into(out, 0);
  copy_into(*select_int(out, dim, index), self);
}
void slice_backward(Tensor& self, IntList, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step, Tensor& out) {
  fill_into(out, 0);
  copy_into(*slice_Tensor(out, dim, start, end, step), self);
}
void diagonal_backward(Tensor& self, IntList, int64_t offset, int64_t dim1, int64_t dim2, Tensor& out) {
  fill_into(out, 0);
  copy_into(*diagonal(out, offset, dim1, dim2), self);
}

void unfold_backward(Tensor& self, IntList input_sizes, int64_t dim, int64_t size, int64_t step, Tensor& out) {
  fill_into(out, 0);
  // Windows overlap, so this adds; elements are visited in one order and by one thread, so it is deterministic.
  const TensorRef windows = input_sizes.empty() ? make_view(out, Dims{size}, Dims{1}, 0) : unfold(out, dim, size, step);
  const Nest<2> nest = make_nest<2>(self.sizes(), {windows.get(), &self});
  visit(out.dtype(), [&]<class T>() {
    nest.run([](char** p, int64_t n, const int64_t* s) {
      for (int64_t i = 0; i < n; ++i) {
        T& to = *reinterpret_cast<T*>(p[0] + i * s[0]);
        const T& from = *reinterpret_cast<const T*>(p[1] + i * s[1]);
        if constexpr (kIsComplex<T>)
          to = {to.re + from.re, to.im + from.im};
        else
          to = convert<T>(load(to) + load(from));
      }
    });
  });
}

TensorRef unsafe_view(Tensor& self, IntList size) {
  if (self.device().type == DeviceType::PrivateUse)
    return vivace::alias(*make_view(self, size, contiguous_strides(size), self.storage_offset()));
  TensorRef result = vivace::alias(self);
  set_layout(*result, size, contiguous_strides(size), self.storage_offset());
  return result;
}

}  // namespace kernels
}  // namespace vivace
