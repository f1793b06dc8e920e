// What a profile records: when operators, nodes of backward and ranges named in Python ran, and what memory they took.
// Each thread that is profiled has a Recorder, whose events are of one size; bindings/profiler.cpp hands them to
// Python. All of it needs the GIL.
#pragma once
#include <ctime>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/core/object.h"
#include "runtime/dispatch/keys.h"

namespace vivace {
struct NodeInfo;
}

namespace vivace::profiler {

enum class Kind : uint8_t {
  Operator,    // `what` is an Op
  Evaluate,    // a node of backward, hooks and handing on included: a NodeInfo
  Apply,       // the node's formula: a NodeInfo
  Accumulate,  // into a leaf's grad: null
  Range,       // record_function: its name, owned
};

/// What is recorded besides times.
enum Wants : uint8_t { kArguments = 1, kStacks = 2, kMemory = 4 };

inline constexpr uint32_t kNone = ~0u;

struct Event {
  const void* what;
  uint64_t start;
  uint64_t end;      // 0 while it runs
  int64_t sequence;  // of the node that an operator made, or that runs; -1: none
  uint32_t parent;   // the event around it
  uint32_t stack;
  uint32_t arguments;  // where they begin in `words`
  Kind kind;
};

/// Time in the unit that is cheapest to read.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
#endif
}

/// A running function and the offset of its instruction.
struct Frame {
  Object* code;
  int32_t lasti;
};
/// Distinct stacks, innermost frame first; owns their code objects.
class Stacks {
 public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  ~Stacks();
  /// Number of the stack of the Python code that runs.
  uint32_t capture();
  size_t size() const { return begins_.size(); }
  const Frame* frames(uint32_t stack, uint32_t& n) const {
    n = (stack + 1 < begins_.size() ? begins_[stack + 1] : uint32_t(frames_.size())) - begins_[stack];
    return frames_.data() + begins_[stack];
  }

 private:
  bool is(uint32_t stack, const Frame* frames, uint32_t n) const;

  std::vector<Frame> frames_;
  std::vector<uint32_t> begins_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
  uint32_t last_ = kNone;
};
/// Stores the frames that run in this thread (borrowed), innermost first; bindings set it.
extern int (*capture_frames)(Frame* frames, int room);

class Recorder {
 public:
  explicit Recorder(uint64_t thread);
  Recorder(const Recorder&) = delete;
  ~Recorder() { clear(); }

  uint32_t begin(Kind kind, const void* what, int64_t sequence);
  void end(uint32_t event, uint32_t of_generation) {
    if (of_generation != generation) return;  // the profile ended meanwhile
    at(event).end = ticks();
    running = at(event).parent;
  }
  Event& at(uint32_t event) { return chunks_[event / kChunk][event % kChunk]; }
  uint32_t size() const { return size_; }
  /// Drops all events: those that run are not ended later.
  void clear();

  const uint64_t thread;    // as Python's threading numbers it
  const uint32_t id;        // never given twice
  uint32_t generation = 1;  // how often it was cleared
  uint32_t running = kNone;
  uint8_t wants = 0;
  std::vector<int64_t> words;  // arguments; see layer.cpp
  std::unique_ptr<Stacks> stacks = std::make_unique<Stacks>();

 private:
  /// Keeps what events point to.
  void keep(const NodeInfo& info);

  static constexpr uint32_t kChunk = 4096;
  std::vector<std::unique_ptr<Event[]>> chunks_;
  uint32_t size_ = 0;
  std::unordered_set<const NodeInfo*> kept_;
};

/// This thread's, while it is profiled; else null.
extern thread_local constinit Recorder* here __attribute__((tls_model("initial-exec")));

/// An event for the time of a scope.
class Scope {
 public:
  Scope(Kind kind, const void* what, int64_t sequence = -1) : recorder_(here) {
    if (!recorder_) return;
    generation_ = recorder_->generation;
    event_ = recorder_->begin(kind, what, sequence);
  }
  ~Scope() {
    if (recorder_) recorder_->end(event_, generation_);
  }
  Scope(const Scope&) = delete;

 private:
  Recorder* const recorder_;
  uint32_t generation_ = 0, event_ = 0;
};
/// In place of a Scope where nothing is recorded.
struct NoScope {
  NoScope(Kind, const void*, int64_t = -1) {}
};

/// Memory of a storage that came (bytes > 0) or went.
struct MemoryEvent {
  uint64_t time;
  const void* storage;
  int64_t bytes;
  uint32_t recorder;  // id of the thread's; kNone: it is not profiled
  uint32_t event;     // that ran
};
/// What was noted since the first of the profiles that want memory.
extern std::vector<MemoryEvent> memory_events;
/// Begins or ends noting; calls nest.
void watch_memory(bool on);

}  // namespace vivace::profiler
