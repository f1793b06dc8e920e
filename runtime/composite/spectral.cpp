// Decompositions in their older forms, and eigenvalues and singular values alone: vectors are computed only where a
// gradient needs them.
#include "generated/kernels/linalg/spectral.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/linalg/spectral.h"
#include "generated/ops/view/dims.h"
#include "runtime/kernels/lapack.h"

#include "runtime/autograd/layers.h"
#include "runtime/dispatch/op.h"
#include "runtime/vmap/batched.h"

namespace vivace::composite {
namespace {

bool is_recorded(Tensor& given) {
  const Tensor& t = base_of(given);  // of samples, the physical tensor
  return (tls.grad_mode && t.requires_grad()) || (t.keys & bit(Key::ForwardAD) & ~tls.exclude);
}

void refuse_driver(std::optional<std::string_view> driver) {
  if (driver)
    fail("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

}  // namespace

std::tuple<TensorRef, TensorRef> qr(Tensor& self, bool some) {
  return ops::linalg_qr(self, some ? "reduced" : "complete");
}

std::tuple<TensorRef, TensorRef, TensorRef> svd(Tensor& self, bool some, bool compute_uv) {
  if (compute_uv) {
    auto [U, S, Vh] = ops::linalg_svd(self, !some, true);
    return {std::move(U), std::move(S), ops::mH(*Vh)};
  }
  lapack::check_matrices(self, "linalg.svd");
  const int64_t m = lapack::rows(self), n = lapack::cols(self);
  const auto zeros = [&](int64_t size) {
    return ops::zeros(lapack::extended(lapack::batch_sizes(self), {size, size}), self.dtype(), self.device());
  };
  return {zeros(m), svdvals(self, std::nullopt), zeros(n)};
}

std::tuple<TensorRef, TensorRef, TensorRef> linalg_svd(Tensor& A, bool full_matrices,
                                                       std::optional<std::string_view> driver) {
  refuse_driver(driver);
  return ops::linalg_svd(A, full_matrices, true);
}
TensorRef svdvals(Tensor& A, std::optional<std::string_view> driver) {
  refuse_driver(driver);
  return std::get<1>(ops::linalg_svd(A, false, is_recorded(A)));
}
TensorRef eigvalsh(Tensor& A, std::string_view UPLO) { return std::get<0>(ops::linalg_eigh(A, UPLO, is_recorded(A))); }
TensorRef eigvals(Tensor& A) { return std::get<0>(ops::linalg_eig(A, is_recorded(A))); }

}  // namespace vivace::composite
