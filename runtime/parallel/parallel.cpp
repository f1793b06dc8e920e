// Workers wait on a condition variable and take chunks by an atomic counter; one region runs at a time.
#include "runtime/parallel/parallel.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/core/object.h"

namespace vivace {
namespace detail {
int num_threads = 0;
}

namespace {

/// Regions of this many grains, some 500 us, let go of the GIL: another thread may keep it for 5 ms.
constexpr int64_t kLongGrains = 48;

thread_local bool in_region = false;

/// Marks this thread as one that runs a region.
struct InRegion {
  InRegion() { in_region = true; }
  ~InRegion() { in_region = false; }
};

/// Lets other Python threads run until the end of its scope.
struct WithoutGil {
  PyThreadState* const state = PyEval_SaveThread();
  ~WithoutGil() { PyEval_RestoreThread(state); }
};

/// Workers wait for a region; each takes the share of its own number.
class Pool {
 public:
  /// Runs task(0) here and task(1 .. n-1) on workers; n is at least 2. False if another thread's region is running.
  template <class F>
  bool run(int n, F& task) {
    if (busy_.test_and_set()) return false;
    {
      std::unique_lock lock(mutex_);
      while (int(workers_.size()) < n - 1) {
        const int number = int(workers_.size()) + 1;
        workers_.emplace_back([this, number, seen = region_] { work(number, seen); });
      }
      call_ = [](void* context, int i) { (*static_cast<F*>(context))(i); };
      context_ = &task;
      shares_ = n;
      pending_ = n - 1;
      ++region_;
    }
    start_.notify_all();
    {
      const InRegion mark;
      task(0);
    }
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return pending_ == 0; });
    busy_.clear();
    return true;
  }

 private:
  [[noreturn]] void work(int number, uint64_t seen) {
    in_region = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      start_.wait(lock, [&] { return region_ != seen; });
      seen = region_;
      if (number >= shares_) continue;
      const auto call = call_;
      void* const context = context_;
      lock.unlock();
      call(context, number);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::atomic_flag busy_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> workers_;
  void (*call_)(void*, int) = nullptr;
  void* context_ = nullptr;
  int shares_ = 0, pending_ = 0;
  uint64_t region_ = 0;
};

// Never destroyed: its threads live until the process ends. A forked child has none of them, so it starts another.
alignas(Pool) char pool_memory[sizeof(Pool)];
Pool* pool = nullptr;

Pool& get_pool() {
  if (pool == nullptr) {
    pool = new (pool_memory) Pool;
    static const int registered = pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });
    (void)registered;
  }
  return *pool;
}

int default_threads() {
  for (const char* variable : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (const char* text = std::getenv(variable)) {
      const int n = std::atoi(text);
      if (n > 0) return n;
    }
  }
  const int n = int(std::thread::hardware_concurrency());
  return n > 0 ? n : 1;
}

}  // namespace

int get_num_threads() {
  if (detail::num_threads == 0) detail::num_threads = default_threads();
  return detail::num_threads;
}

void set_num_threads(int n) { detail::num_threads = std::max(n, 1); }

bool in_parallel_region() { return in_region; }

void detail::run_parallel(int64_t begin, int64_t end, int64_t grain, void (*call)(void*, int64_t, int64_t),
                          void* context) {
  const int64_t total = end - begin, step = std::max<int64_t>(grain, 1);
  const int n = int(std::min<int64_t>(get_num_threads(), (total + step - 1) / step));
  const auto serially = [&] {
    const InRegion mark;
    call(context, begin, end);
  };
  Pool& workers = get_pool();
  std::optional<WithoutGil> unlocked;
  if (total / step >= kLongGrains) unlocked.emplace();
  if (n <= 1) return serially();
  std::exception_ptr error;
  std::mutex mutex;
  auto task = [&](int i) {
    try {
      call(context, begin + total * i / n, begin + total * (i + 1) / n);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  if (!workers.run(n, task)) return serially();
  if (error) std::rethrow_exception(error);
}

}  // namespace vivace
