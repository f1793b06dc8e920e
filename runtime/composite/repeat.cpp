// Repetition, choices and closeness.
#include <algorithm>
#include <vector>

#include "generated/kernels/index/repeat.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/repeat.h"
#include "generated/ops/index/select.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/composite/value.h"

namespace vivace::composite {

TensorRef repeat_interleave_self_int(Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                                     std::optional<int64_t>) {
  if (repeats < 0) fail("Repeats must be non-negative");
  const TensorRef x = dim ? TensorRef::share(&self) : ops::flatten_using_ints(self, 0, -1);
  const int64_t d = wrap_dim(dim.value_or(0), x->dim());
  if (x->dim() == 0) return repeat_interleave_self_int(*ops::reshape(*x, Dims{1}), repeats, 0, std::nullopt);
  // A dim put in, broadcast, and merged again.
  Dims wide(x->sizes()), merged(x->sizes());
  for (int k = wide.n++; k > d + 1; --k) wide[k] = wide[k - 1];
  wide[int(d) + 1] = repeats;
  if (__builtin_mul_overflow(merged[int(d)], repeats, &merged[int(d)]))
    fail("repeat_interleave: ", repeats, " times a dim of size ", wide[int(d)], " overflows");
  return ops::reshape(*ops::clone(*ops::expand(*ops::unsqueeze(*x, d + 1), wide, false), MemoryFormat::Contiguous),
                      merged);
}

TensorRef repeat_interleave_self_Tensor(Tensor& self, Tensor& repeats, std::optional<int64_t> dim,
                                        std::optional<int64_t> output_size) {
  const TensorRef x = dim ? TensorRef::share(&self) : ops::flatten_using_ints(self, 0, -1);
  const int64_t d = wrap_dim(dim.value_or(0), x->dim());
  const int64_t n = x->size(d);
  TensorRef counts = TensorRef::share(&repeats);
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.numel() == 1))
    counts = ops::expand(*ops::reshape(repeats, Dims{1}), Dims{n}, false);
  else if (repeats.dim() != 1)
    fail("repeats must be 0-dim or 1-dim tensor");
  else if (repeats.numel() != n)
    fail("repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(),
         " and input.size(", d, ") = ", n);
  return ops::index_select(*x, d, *ops::repeat_interleave_Tensor(*counts, output_size));
}

/// How many ways there are to choose r of n; throws if no tensor could hold them.
static int64_t choices(int64_t n, int64_t r) {
  __int128 ways = 1;  // below 2**63 before each step, so below 2**126 in it
  for (int64_t k = 1; k <= std::min(r, n - r); ++k) {
    ways = ways * (n - k + 1) / k;
    if (ways > INT64_MAX) fail("combinations: the number of ways to choose ", r, " of ", n, " elements overflows");
  }
  return int64_t(ways);
}

TensorRef combinations(Tensor& self, int64_t r, bool with_replacement) {
  if (self.dim() != 1) fail("Expect a 1D vector, but got shape ", self.sizes());
  if (r < 0) fail("Expect a non-negative number, but got ", r);
  if (r == 0) return ops::new_empty(self, Dims{0}, std::nullopt, std::nullopt);
  const int64_t n = self.numel();
  if (r > INT64_MAX - n) fail("combinations: r=", r, " is too large");
  const bool none = n == 0 || (r > n && !with_replacement);
  const int64_t found = none ? 0 : choices(with_replacement ? n + r - 1 : n, r);
  TensorRef index = empty({found, r}, DType::Int64);
  std::vector<int64_t> row(static_cast<size_t>(none ? 0 : r));
  for (int64_t i = 0; !none && i < r; ++i) row[size_t(i)] = with_replacement ? 0 : i;
  for (int64_t k = 0; k < found; ++k) {
    std::copy(row.begin(), row.end(), index->data<int64_t>() + k * r);
    int64_t i = r - 1;
    while (i >= 0 && row[size_t(i)] == (with_replacement ? n - 1 : n - r + i)) --i;
    if (i < 0) break;
    const int64_t next = row[size_t(i)] + 1;
    for (int64_t j = i; j < r; ++j) row[size_t(j)] = with_replacement ? next : next + j - i;
  }
  if (self.device().type == DeviceType::PrivateUse) index = ops::_to_copy(*index, std::nullopt, self.device());
  return ops::reshape(*ops::index_select(self, 0, *ops::reshape(*index, Dims{found * r})), Dims{found, r});
}

bool allclose(Tensor& self, Tensor& other, double rtol, double atol, bool equal_nan) {
  return value_of(*ops::all(*ops::isclose(self, other, rtol, atol, equal_nan))).to_bool();
}

}  // namespace vivace::composite
