// Products and systems of tensors with any number of dims, made of those of matrices.
#include <algorithm>
#include <vector>

#include "generated/kernels/linalg/products.h"
#include "generated/kernels/linalg/tensors.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/join.h"
#include "generated/ops/linalg/factor.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/linalg/solve.h"
#include "generated/ops/linalg/tensors.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/scan/cumulative.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/core/promote.h"

namespace vivace::composite {

TensorRef outer(Tensor& self, Tensor& vec2) {
  if (self.dim() != 1 || vec2.dim() != 1)
    fail("outer: Expected 1-D argument ", self.dim() != 1 ? "self" : "vec2", ", but got ",
         self.dim() != 1 ? self.dim() : vec2.dim(), "-D");
  TensorRef column = ops::unsqueeze(self, 1);
  return ops::mul_Tensor(*column, vec2);
}

TensorRef addr(Tensor& self, Tensor& vec1, Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  if (vec1.dim() != 1 || vec2.dim() != 1)
    fail("addr: Expected 1-D argument ", vec1.dim() != 1 ? "vec1" : "vec2", ", but got ",
         vec1.dim() != 1 ? vec1.dim() : vec2.dim(), "-D");
  Tensor* operands[] = {&self, &vec1, &vec2};
  const DType dtype = result_type(TensorList(operands, 3));
  if (!is_differentiable(dtype)) {
    if (!beta.is_integral()) fail("For integral input tensors, argument beta must not be a floating point number.");
    if (!alpha.is_integral()) fail("For integral input tensors, argument alpha must not be a floating point number.");
  }
  if (!is_complex(dtype) && (beta.is_complex() || alpha.is_complex()))
    fail("value cannot be converted to type ", dtype, " without overflow");
  // Between truths, a product is "and", a sum is "or", and a factor is on or off.
  const auto factor = [&](const Scalar& s) { return is_bool(dtype) ? Scalar(!(s == 0.0)) : s; };
  const int64_t sizes[] = {vec1.numel(), vec2.numel()};
  const TensorRef added = ops::expand(self, sizes, false);
  const TensorRef product = outer(vec1, vec2);
  if (beta == 0.0) return ops::to_dtype(*ops::mul_Scalar(*product, factor(alpha)), dtype);
  const TensorRef scaled = beta == 1.0 ? added : ops::mul_Scalar(*added, factor(beta));
  return ops::add_Tensor(*scaled, *product, factor(alpha));
}

TensorRef tensordot(Tensor& self, Tensor& other, IntList dims_self, IntList dims_other) {
  if (dims_self.size() != dims_other.size()) fail("both dimension lists should have same length");
  if (self.dtype() != other.dtype()) fail("both inputs should have same dtype");
  const uint64_t mask_a = dims_self.empty() ? 0 : dim_mask(dims_self, self.dim());
  const uint64_t mask_b = dims_other.empty() ? 0 : dim_mask(dims_other, other.dim());
  TensorRef a = TensorRef::share(&self), b = TensorRef::share(&other);
  Dims contracted_a, contracted_b, order_a, order_b, result;
  int64_t inner = 1, rows = 1, cols = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t p = wrap_dim(dims_self[i], self.dim()), q = wrap_dim(dims_other[i], other.dim());
    // A dim of size 1 stands for any size: the other tensor is summed.
    if (b->size(q) == 1)
      a = ops::sum_dim_IntList(*a, IntList(&p, 1), true, a->dtype());
    else if (a->size(p) == 1)
      b = ops::sum_dim_IntList(*b, IntList(&q, 1), true, b->dtype());
    else if (a->size(p) != b->size(q))
      fail("contracted dimensions need to match, but first has size ", a->size(p), " in dim ", dims_self[i],
           " and second has size ", b->size(q), " in dim ", dims_other[i]);
    contracted_a.push(p);
    contracted_b.push(q);
    inner *= a->size(p);
  }
  for (int64_t d = 0; d < self.dim(); ++d)
    if (!(mask_a >> d & 1)) {
      order_a.push(d);
      result.push(a->size(d));
      rows *= a->size(d);
    }
  for (int64_t d : contracted_b) order_b.push(d);
  for (int64_t d = 0; d < other.dim(); ++d)
    if (!(mask_b >> d & 1)) {
      order_b.push(d);
      result.push(b->size(d));
      cols *= b->size(d);
    }
  for (int64_t d : contracted_a) order_a.push(d);
  const int64_t left[] = {rows, inner}, right[] = {inner, cols};
  const TensorRef product =
      ops::mm(*ops::reshape(*ops::permute(*a, order_a), left), *ops::reshape(*ops::permute(*b, order_b), right));
  return ops::reshape(*product, result);
}

TensorRef inner(Tensor& self, Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return ops::mul_Tensor(self, other);
  if (self.dtype() != other.dtype()) fail("both inputs should have same dtype");
  if (self.size(-1) != other.size(-1))
    fail("inner() the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ",
         other.sizes());
  if (self.dim() == 1 && other.dim() == 1) return ops::dot(self, other);
  return tensordot(self, other, kInts<-1>, kInts<-1>);
}

TensorRef kron(Tensor& self, Tensor& other) {
  // Element (i, j) of each dim stands at i * size of other + j.
  const int64_t n = std::max(self.dim(), other.dim());
  Dims left, right, result;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t at_a = d - (n - self.dim()), at_b = d - (n - other.dim());
    const int64_t a = at_a < 0 ? 1 : self.size(at_a), b = at_b < 0 ? 1 : other.size(at_b);
    left.push(a);
    left.push(1);
    right.push(1);
    right.push(b);
    result.push(a * b);
  }
  const TensorRef product = ops::mul_Tensor(*ops::reshape(self, left), *ops::reshape(other, right));
  return ops::reshape(*product, result);
}

TensorRef vecdot(Tensor& x, Tensor& y, int64_t dim) {
  if (!is_differentiable(x.dtype()))
    fail("linalg.vecdot: Expected a floating point or complex tensor as input. Got ", x.dtype());
  if (x.dtype() != y.dtype())
    fail("linalg.vecdot: Expected x and y to have the same dtype, but found x of type ", x.dtype(), " and y of type ",
         y.dtype(), " instead");
  if (x.dim() == 1 && y.dim() == 1) return ops::vdot(x, y);
  const TensorRef product = ops::mul_Tensor(is_complex(x.dtype()) ? *ops::conj(x) : x, y);
  return ops::sum_dim_IntList(*product, IntList(&dim, 1), false, std::nullopt);
}

TensorRef cross(Tensor& self, Tensor& other, std::optional<int64_t> dim) {
  if (dim) return ops::linalg_cross(self, other, *dim);
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) == 3) return ops::linalg_cross(self, other, d);
  fail("no dimension of size 3 in input");
}

// ---- chains and systems

namespace {

/// Where to split the product of matrices first..last, by the sizes that cost the fewest multiplications.
struct Chain {
  std::vector<int64_t> sizes;  // matrix i is sizes[i] by sizes[i + 1]
  std::vector<std::vector<size_t>> split;

  explicit Chain(std::vector<int64_t> all) : sizes(std::move(all)) {
    const size_t n = sizes.size() - 1;
    std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
    split.assign(n, std::vector<size_t>(n, 0));
    for (size_t length = 1; length < n; ++length)
      for (size_t first = 0; first + length < n; ++first) {
        const size_t last = first + length;
        cost[first][last] = -1;
        for (size_t at = first; at < last; ++at) {
          const double c = cost[first][at] + cost[at + 1][last] +
                           double(sizes[first]) * double(sizes[at + 1]) * double(sizes[last + 1]);
          if (cost[first][last] < 0 || c < cost[first][last]) {
            cost[first][last] = c;
            split[first][last] = at;
          }
        }
      }
  }

  TensorRef product(const std::vector<TensorRef>& matrices, size_t first, size_t last) const {
    if (first == last) return matrices[first];
    const size_t at = split[first][last];
    return ops::mm(*product(matrices, first, at), *product(matrices, at + 1, last));
  }
};

}  // namespace

TensorRef multi_dot(TensorList tensors) {
  const size_t n = tensors.size();
  if (n < 2) fail("multi_dot(): expected at least 2 tensors but got ", n);
  std::vector<TensorRef> matrices;
  Dims result;
  for (size_t i = 0; i < n; ++i) {
    Tensor& t = *tensors[i];
    const bool at_end = i == 0 || i == n - 1;
    if (t.dim() != 2 && !(at_end && t.dim() == 1))
      fail("multi_dot(): tensor ", i, " must be ", at_end ? "1D or 2D" : "2D", " but got ", t.dim(), "D");
    if (t.dtype() != tensors[0]->dtype())
      fail("multi_dot(): all tensors must have be the same dtype but tensor 0 is ", tensors[0]->dtype(), " and tensor ",
           i, " ", t.dtype());
    if (t.dim() == 2 && at_end) result.push(t.size(i == 0 ? 0 : 1));
    matrices.push_back(t.dim() == 2 ? TensorRef::share(&t) : ops::unsqueeze(t, i == 0 ? 0 : 1));
  }
  std::vector<int64_t> sizes{matrices[0]->size(0)};
  for (size_t i = 0; i < n; ++i) {
    if (matrices[i]->size(0) != sizes.back())
      fail("multi_dot(): tensors ", int64_t(i) - 1, " and ", i, " with shapes ", tensors[i - 1]->sizes(), " and ",
           tensors[i]->sizes(), " cannot be multiplied");
    sizes.push_back(matrices[i]->size(1));
  }
  const TensorRef product = Chain(std::move(sizes)).product(matrices, 0, n - 1);
  return result.size() == 2 ? product : ops::reshape(*product, result);
}

TensorRef tensorinv(Tensor& self, int64_t ind) {
  if (ind <= 0) fail("Expected a strictly positive integer for 'ind'");
  const size_t at = size_t(std::min(ind, self.dim()));
  const IntList first = self.sizes().first(at), rest = self.sizes().subspan(at);
  const int64_t n = count(first);
  if (n != count(rest))
    fail("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ",
         count(rest), " != ", n);
  Dims sizes(rest);
  for (int64_t s : first) sizes.push(s);
  const int64_t square[] = {n, n};
  return ops::reshape(*ops::inv(*ops::reshape(self, square)), sizes);
}

TensorRef tensorsolve(Tensor& self, Tensor& other, std::optional<IntList> dims) {
  TensorRef a = TensorRef::share(&self);
  if (dims && !dims->empty()) {
    Dims to;
    for (size_t i = 0; i < dims->size(); ++i) to.push(int64_t(i) - int64_t(dims->size()));
    a = ops::movedim_intlist(self, *dims, to);
  }
  if (a->dim() < other.dim()) fail("linalg.tensorsolve: self must have at least the dims of other");
  const size_t at = size_t(other.dim());
  const IntList result = a->sizes().subspan(at);
  const int64_t n = count(result);
  if (n != count(a->sizes().first(at)))
    fail(
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
        "but got ",
        n, " != ", count(a->sizes().first(at)));
  const int64_t square[] = {n, n}, vector[] = {-1};
  const TensorRef x = ops::solve(*ops::reshape(*a, square), *ops::reshape(other, vector), true);
  return ops::reshape(*x, result);
}

// ---- powers

namespace {

/// x to the powers 0, 1 ... n - 1, along a new last dim.
TensorRef powers(Tensor& x, int64_t n) {
  Dims one(x.sizes()), rest(x.sizes());
  one.push(1);
  rest.push(n - 1);
  const TensorRef ones = ops::ones(one, x.dtype(), x.device());
  const TensorRef factors = ops::expand(*ops::unsqueeze(x, -1), rest, false);
  Tensor* parts[] = {&*ones, &*factors};
  return ops::cumprod(*ops::cat(TensorList(parts, 2), -1), -1);
}

}  // namespace

TensorRef linalg_vander(Tensor& x, std::optional<int64_t> N) {
  if (x.dtype() == DType::Bool || is_half(x.dtype()))
    fail("linalg.vander supports floating point, complex, and integer tensors, but got ", x.dtype());
  const int64_t n = N.value_or(x.size(-1));
  if (n <= 1) fail("N must be greater than 1.");
  if (x.dim() > 0) return powers(x, n);
  const TensorRef vector = ops::reshape(x, kInts<1>);
  return powers(*vector, n);
}

TensorRef vander(Tensor& x, std::optional<int64_t> N, bool increasing) {
  if (x.dim() != 1) fail("x must be a one-dimensional tensor.");
  const int64_t n = N.value_or(x.size(0));
  if (n < 0) fail("N must be non-negative.");
  const DType dtype = promote_types(x.dtype(), DType::Int64);
  const int64_t none[] = {x.size(0), 0};
  if (n == 0) return ops::empty_memory_format(none, dtype, x.device());
  const TensorRef rising = powers(*ops::to_dtype(x, dtype), n);
  return increasing ? rising : ops::flip(*rising, kInts<1>);
}

}  // namespace vivace::composite
