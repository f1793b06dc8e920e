// Sessions of profiling: which threads record, and the events of a session as Python objects; vivace/profiler makes
// tables and traces of them. Sessions may nest and overlap, in one thread and in several.
#include "runtime/profiler/recorder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>

#include "bindings/convert.h"
#include "bindings/exports.h"
#include "bindings/frame.h"
#include "bindings/tables.h"
#include "runtime/autograd/node.h"
#include "runtime/profiler/layer.h"

namespace vivace {
namespace {

using profiler::Event, profiler::Kind, profiler::kNone, profiler::Recorder;

/// A thread that is or was profiled. It may end before the sessions that it is part of.
struct Thread {
  Recorder recorder{PyThread_get_thread_native_id()};
  std::vector<uint8_t> wants;  // of the sessions it is part of
  std::mutex ending;
  ThreadState* state = &tls;  // null: the thread has ended
  Recorder** here = &profiler::here;
};

struct ThisThread {
  std::shared_ptr<Thread> thread;
  ~ThisThread() {
    if (!thread) return;
    const std::lock_guard lock(thread->ending);
    thread->state = nullptr;
  }
};
thread_local ThisThread this_thread;

struct Part {
  std::shared_ptr<Thread> thread;
  uint32_t begin;  // its first event
};

struct Session {
  uint8_t wants;
  uint64_t start;
  size_t memory_begin;
  std::vector<Part> parts;
};
std::map<long, Session> sessions;
long last_session = 0;

/// The wants of a thread's sessions together; the recorder is there while there are some.
void update(Thread& thread) {
  thread.recorder.wants = 0;
  for (const uint8_t wants : thread.wants) thread.recorder.wants |= wants;
  const std::lock_guard lock(thread.ending);
  const bool on = !thread.wants.empty();
  if (!thread.state) return;
  thread.state->include = on ? thread.state->include | bit(Key::Profiler) : thread.state->include & ~bit(Key::Profiler);
  *thread.here = on ? &thread.recorder : nullptr;
}

void attach(Session& session) {
  if (!this_thread.thread) this_thread.thread = std::make_shared<Thread>();
  Thread& thread = *this_thread.thread;
  thread.wants.push_back(session.wants);
  session.parts.push_back({this_thread.thread, thread.recorder.size()});
  update(thread);
}

void detach(const Part& part, uint8_t wants) {
  Thread& thread = *part.thread;
  thread.wants.erase(std::find(thread.wants.begin(), thread.wants.end(), wants));
  update(thread);
  if (thread.wants.empty()) thread.recorder.clear();
}

// ---- time

struct Instant {
  uint64_t ticks;
  int64_t ns;
};

Instant read_clocks() {
  Instant best{};
  uint64_t shortest = ~uint64_t(0);
  for (int i = 0; i < 5; ++i) {
    timespec t;
    const uint64_t before = profiler::ticks();
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t after = profiler::ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec};
  }
  return best;
}

Instant first;  // of the first session

/// From ticks to nanoseconds since a session's start.
struct Nanoseconds {
  double per_tick;
  uint64_t start;

  explicit Nanoseconds(uint64_t start) : start(start) {
    const Instant now = read_clocks();
    per_tick = double(now.ns - first.ns) / double(std::max<uint64_t>(now.ticks - first.ticks, 1));
  }
  long long operator()(uint64_t ticks) const {
    return static_cast<long long>(double(int64_t(ticks - start)) * per_tick);
  }
};

// ---- events as objects

using Owned = Ref<Object>;

Owned tuple_of_ints(const int64_t* values, size_t n) { return Owned::steal(checked(wrap_tuple({values, n}))); }

/// Reads what the layer wrote.
class Words {
 public:
  explicit Words(const int64_t* at) : at_(at) {}

  /// A tensor is (sizes, strides, dtype), a list of tensors a list of these; what has no value here is None.
  Owned argument() {
    const auto head = std::bit_cast<profiler::ArgumentHead>(*at_++);
    switch (head.tag) {
      case Tag::Tensor: {
        const Owned sizes = tuple_of_ints(at_, head.ndim), strides = tuple_of_ints(at_ + head.ndim, head.ndim);
        at_ += 2 * head.ndim;
        return Owned::steal(checked(Py_BuildValue("OON", sizes.object(), strides.object(), wrap(head.dtype))));
      }
      case Tag::TensorList:
        return list(head.count, [this] { return argument(); });
      case Tag::IntList:
        return list(head.count, [this] { return Owned::steal(checked(PyLong_FromLongLong(*at_++))); });
      case Tag::FloatList:
        return list(head.count, [this] { return Owned::steal(checked(PyFloat_FromDouble(real()))); });
      case Tag::Bool:
        return Owned::steal(PyBool_FromLong(*at_++ != 0));
      case Tag::Int:
        return Owned::steal(checked(PyLong_FromLongLong(*at_++)));
      case Tag::Float:
        return Owned::steal(checked(PyFloat_FromDouble(real())));
      case Tag::DType:
        return Owned::steal(wrap(DType(*at_++)));
      case Tag::Layout:
        return Owned::steal(wrap(Layout(*at_++)));
      case Tag::MemoryFormat:
        return Owned::steal(wrap(MemoryFormat(*at_++)));
      default:
        return Owned::share(Py_None);
    }
  }

 private:
  double real() { return std::bit_cast<double>(*at_++); }
  template <class F>
  static Owned list(uint32_t n, F&& item) {
    auto items = Owned::steal(checked(PyList_New(n)));
    for (uint32_t i = 0; i < n; ++i) PyList_SET_ITEM(items.object(), i, item().release());
    return items;
  }

  const int64_t* at_;
};

Owned arguments_of(const Recorder& recorder, const Event& event) {
  if (event.arguments == kNone) return Owned::share(Py_None);
  const int n = static_cast<const Op*>(event.what)->nargs;
  auto tuple = Owned::steal(checked(PyTuple_New(n)));
  Words words(recorder.words.data() + event.arguments);
  for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.object(), i, words.argument().release());
  return tuple;
}

/// Names of operators and nodes, made once for each.
class Names {
 public:
  Object* of(const Event& event) {
    if (event.kind == Kind::Range) return static_cast<Object*>(const_cast<void*>(event.what));
    Owned& name = known_[event.what][int(event.kind)];
    if (!name) name = Owned::steal(checked(PyUnicode_FromString(text(event).c_str())));
    return name.object();
  }

 private:
  static std::string text(const Event& event) {
    if (event.kind == Kind::Accumulate) return "torch::autograd::AccumulateGrad";
    if (event.kind == Kind::Operator) {
      const std::string_view name = static_cast<const Op*>(event.what)->name;
      return str(name.find("::") == name.npos ? "aten::" : "", name);
    }
    const char* name = static_cast<const NodeInfo*>(event.what)->name;
    return str(event.kind == Kind::Evaluate ? "autograd::engine::evaluate_function: " : "", name);
  }

  std::unordered_map<const void*, Owned[4]> known_;
};

/// (name, overload, kind, start, end, parent, sequence, stack, arguments); parent and stack are -1 where there is none.
Owned events_of(const Part& part, const Nanoseconds& ns, uint64_t now, Names& names) {
  Recorder& recorder = part.thread->recorder;
  const auto events = Owned::steal(checked(PyList_New(recorder.size() - part.begin)));
  for (uint32_t i = part.begin; i < recorder.size(); ++i) {
    const Event& e = recorder.at(i);
    const bool inside = e.parent != kNone && e.parent >= part.begin;
    const char* overload = e.kind == Kind::Operator ? static_cast<const Op*>(e.what)->overload : "";
    PyList_SET_ITEM(
        events.object(), i - part.begin,
        checked(Py_BuildValue("OsiLLlLlN", names.of(e), overload, int(e.kind), ns(e.start), ns(e.end ? e.end : now),
                              inside ? long(e.parent - part.begin) : -1L, static_cast<long long>(e.sequence),
                              e.stack == kNone ? -1L : long(e.stack), arguments_of(recorder, e).release())));
  }
  return events;
}

/// For each stack a tuple of code object, offset, code object, offset, ...
Owned stacks_of(const profiler::Stacks& stacks) {
  auto list = Owned::steal(checked(PyList_New(Py_ssize_t(stacks.size()))));
  for (uint32_t s = 0; s < stacks.size(); ++s) {
    uint32_t n;
    const profiler::Frame* frames = stacks.frames(s, n);
    auto tuple = Owned::steal(checked(PyTuple_New(2 * n)));
    for (uint32_t i = 0; i < n; ++i) {
      PyTuple_SET_ITEM(tuple.object(), 2 * i, Py_NewRef(frames[i].code));
      PyTuple_SET_ITEM(tuple.object(), 2 * i + 1, checked(PyLong_FromLong(frames[i].lasti)));
    }
    PyList_SET_ITEM(list.object(), s, tuple.release());
  }
  return list;
}

/// (time, address, bytes, number of the thread or -1, number of the event that ran or -1)
Owned memory_of(const Session& session, const Nanoseconds& ns) {
  const auto begin = profiler::memory_events.begin() + Py_ssize_t(session.memory_begin);
  auto list = Owned::steal(checked(PyList_New(profiler::memory_events.end() - begin)));
  for (auto e = begin; e != profiler::memory_events.end(); ++e) {
    const auto part =
        std::ranges::find(session.parts, e->recorder, [](const Part& p) { return p.thread->recorder.id; });
    const bool known = part != session.parts.end();
    const bool inside = known && e->event != kNone && e->event >= part->begin;
    PyList_SET_ITEM(list.object(), e - begin,
                    checked(Py_BuildValue("LKLll", ns(e->time), reinterpret_cast<unsigned long long>(e->storage),
                                          static_cast<long long>(e->bytes), known ? part - session.parts.begin() : -1L,
                                          inside ? long(e->event - part->begin) : -1L)));
  }
  return list;
}

Session& session_of(Object* number) {
  const long key = PyLong_AsLong(number);
  if (PyErr_Occurred()) throw PythonError{};
  const auto found = sessions.find(key);
  if (found == sessions.end()) fail("this profile is not running");
  return found->second;
}

// ---- functions

Object* start(Object*, Object* wanted) {
  return guarded([&] {
    const long wants = PyLong_AsLong(wanted);
    if (PyErr_Occurred()) throw PythonError{};
    if (first.ticks == 0) {
      first = read_clocks();
      profiler::install();
    }
    if (wants & profiler::kMemory) profiler::watch_memory(true);
    Session& session = sessions[++last_session];
    session.wants = uint8_t(wants);
    session.memory_begin = profiler::memory_events.size();
    session.start = profiler::ticks();
    attach(session);
    return PyLong_FromLong(last_session);
  });
}

Object* attach_thread(Object*, Object* number) {
  return guarded([&]() -> Object* {
    attach(session_of(number));
    Py_RETURN_NONE;
  });
}

Object* stop(Object*, Object* number) {
  return guarded([&] {
    const uint64_t now = profiler::ticks();
    Session& running = session_of(number);
    const Session session = running;
    sessions.erase(PyLong_AsLong(number));
    struct Ending {
      const Session& session;
      ~Ending() {
        for (const Part& part : session.parts) detach(part, session.wants);
        if (session.wants & profiler::kMemory) profiler::watch_memory(false);
      }
    } const ending{session};
    const Nanoseconds ns(session.start);
    Names names;
    const auto threads = Owned::steal(checked(PyList_New(0)));
    for (const Part& part : session.parts) {
      const auto one = Owned::steal(checked(Py_BuildValue(
          "KNN", static_cast<unsigned long long>(part.thread->recorder.thread),
          events_of(part, ns, now, names).release(), stacks_of(*part.thread->recorder.stacks).release())));
      checked(PyList_Append(threads.object(), one.object()));
    }
    return checked(Py_BuildValue("ONL", threads.object(), memory_of(session, ns).release(), ns(now)));
  });
}

/// A token for _profiler_exit: the generation and number of the event; -1 where nothing records.
Object* enter(Object*, Object* name) {
  Recorder* recorder = profiler::here;
  if (!recorder) return PyLong_FromLong(-1);
  return guarded([&] {
    const uint32_t event = recorder->begin(Kind::Range, Py_NewRef(name), -1);
    return PyLong_FromLongLong(static_cast<long long>(recorder->generation) << 32 | event);
  });
}

Object* leave(Object*, Object* token) {
  const long long value = PyLong_AsLongLong(token);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  if (value >= 0 && profiler::here) profiler::here->end(uint32_t(value), uint32_t(value >> 32));
  Py_RETURN_NONE;
}

Object* is_active(Object*, Object*) { return PyBool_FromLong(profiler::here != nullptr); }

int capture_frames(profiler::Frame* frames, int room) {
  static_assert(sizeof(profiler::Frame) == sizeof(VivaceFrame));
  return vivace_capture_frames(reinterpret_cast<VivaceFrame*>(frames), room);
}

}  // namespace

PyMethodDef kProfilerFunctions[] = {
    {"_profiler_start", start, METH_O,
     "_profiler_start(wants): begins a session that records this thread; 1 for arguments, 2 for stacks, 4 for memory."},
    {"_profiler_attach", attach_thread, METH_O, "_profiler_attach(session): records this thread as well."},
    {"_profiler_stop", stop, METH_O,
     "_profiler_stop(session): ([(thread, events, stacks)], memory, nanoseconds that it lasted)"},
    {"_profiler_enter", enter, METH_O, "_profiler_enter(name): begins a range; a token for its end."},
    {"_profiler_exit", leave, METH_O, "_profiler_exit(token): ends a range."},
    {"_profiler_active", is_active, METH_NOARGS, "Whether this thread is profiled."},
    kNoMethod,
};

void init_profiler() { profiler::capture_frames = capture_frames; }

}  // namespace vivace
