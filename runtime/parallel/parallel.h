// The thread pool: splits a range over threads. Workers never see Python objects; the caller holds the GIL throughout.
// After fork the child starts with no workers and makes its own at the first parallel region.
#pragma once
#include <cstdint>
#include <type_traits>

namespace vivace {

/// How many threads a parallel region uses, the caller included.
int get_num_threads();
void set_num_threads(int n);
/// True in a worker and in the caller's share of a region: regions inside run serially.
bool in_parallel_region();

namespace detail {
void run_parallel(int64_t begin, int64_t end, int64_t grain, void (*call)(void*, int64_t, int64_t), void* context);
extern int num_threads;  // 0: not decided yet
}  // namespace detail

/// Calls f(b, e) on disjoint ranges that cover [begin, end), each of at least `grain` indices; serially if there is one
/// only. The split depends on nothing but the range, the grain and the number of threads. Exceptions of f reach the
/// caller.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (begin >= end) return;
  if (end - begin <= grain || detail::num_threads == 1 || in_parallel_region()) {
    f(begin, end);
    return;
  }
  using Fn = std::remove_reference_t<F>;
  detail::run_parallel(
      begin, end, grain, [](void* context, int64_t b, int64_t e) { (*static_cast<Fn*>(context))(b, e); },
      const_cast<std::remove_const_t<Fn>*>(&f));
}

}  // namespace vivace
