// The thread pool: splits a range over threads. What runs in a region never sees Python objects, on the caller's thread
// neither: the caller, who holds the GIL, lets go of it while a long region runs, so that other Python threads go on.
// After fork the child starts with no workers and makes its own at the first parallel region.
#pragma once
#include <cstdint>
#include <type_traits>

namespace vivace {

/// How many threads a parallel region uses, the caller included.
int get_num_threads();
void set_num_threads(int n);
/// True in a worker and in the caller's share of a region, where the GIL may be free: regions inside run serially.
bool in_parallel_region();

namespace detail {
void run_parallel(int64_t begin, int64_t end, int64_t grain, void (*call)(void*, int64_t, int64_t), void* context);
extern int num_threads;  // 0: not decided yet
}  // namespace detail

/// Calls f(b, e) on disjoint ranges that cover [begin, end), each of at least `grain` indices (about 10 us of work);
/// serially if there is one only. The split depends on nothing but the range, the grain and the number of threads.
/// Exceptions of f reach the caller.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (begin >= end) return;
  if (end - begin <= grain || in_parallel_region()) {
    f(begin, end);
    return;
  }
  using Fn = std::remove_reference_t<F>;
  detail::run_parallel(
      begin, end, grain, [](void* context, int64_t b, int64_t e) { (*static_cast<Fn*>(context))(b, e); },
      const_cast<std::remove_const_t<Fn>*>(&f));
}

}  // namespace vivace
