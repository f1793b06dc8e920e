// Buffers of events, stacks and memory; see recorder.h.
#include "runtime/profiler/recorder.h"

#include <algorithm>

#include "runtime/autograd/node.h"
#include "runtime/core/pool.h"

namespace vivace::profiler {

int (*capture_frames)(Frame* frames, int room);
thread_local constinit Recorder* here = nullptr;
std::vector<MemoryEvent> memory_events;

// ---- stacks

Stacks::~Stacks() {
  for (const Frame& frame : frames_) Py_DECREF(frame.code);
}

bool Stacks::is(uint32_t stack, const Frame* given, uint32_t n) const {
  uint32_t length;
  const Frame* known = frames(stack, length);
  if (length != n) return false;
  for (uint32_t i = 0; i < n; ++i)
    if (known[i].code != given[i].code || known[i].lasti != given[i].lasti) return false;
  return true;
}

uint32_t Stacks::capture() {
  constexpr int kDeepest = 256;
  Frame now[kDeepest];
  const auto n = uint32_t(capture_frames(now, kDeepest));
  if (last_ != kNone && is(last_, now, n)) return last_;  // most calls are made in a loop
  size_t hash = n;
  for (uint32_t i = 0; i < n; ++i)
    hash = (hash ^ reinterpret_cast<uintptr_t>(now[i].code) ^ uint32_t(now[i].lasti)) * 0x9e3779b97f4a7c15u;
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found)
    if (is(found->second, now, n)) return last_ = found->second;
  last_ = uint32_t(begins_.size());
  by_hash_.emplace(hash, last_);
  begins_.push_back(uint32_t(frames_.size()));
  for (uint32_t i = 0; i < n; ++i) {
    Py_INCREF(now[i].code);
    frames_.push_back(now[i]);
  }
  return last_;
}

// ---- events

namespace {
uint32_t last_id = 0;
}

Recorder::Recorder(uint64_t thread) : thread(thread), id(++last_id) {}

uint32_t Recorder::begin(Kind kind, const void* what, int64_t sequence) {
  const uint32_t event = size_++;
  if (event / kChunk == chunks_.size()) [[unlikely]]
    chunks_.emplace_back(new Event[kChunk]);
  if (kind == Kind::Evaluate) keep(*static_cast<const NodeInfo*>(what));
  Event& e = at(event);
  e.what = what;
  e.end = 0;
  e.sequence = sequence;
  e.parent = running;
  e.stack = wants & kStacks ? stacks->capture() : kNone;
  e.arguments = kNone;
  e.kind = kind;
  running = event;
  e.start = ticks();
  return event;
}

void Recorder::clear() {
  for (uint32_t i = 0; i < size_; ++i)
    if (at(i).kind == Kind::Range) Py_DECREF(static_cast<Object*>(const_cast<void*>(at(i).what)));
  for (const NodeInfo* info : kept_) Py_DECREF(info->type);
  kept_.clear();
  chunks_.clear();
  words.clear();
  words.shrink_to_fit();
  stacks = std::make_unique<Stacks>();
  size_ = 0;
  running = kNone;
  ++generation;
}

void Recorder::keep(const NodeInfo& info) {
  if (kept_.insert(&info).second) Py_INCREF(info.type);  // which owns the info of a user's Function
}

// ---- memory

namespace {

int watchers = 0;

void note_memory(const Storage& storage, int64_t bytes) {
  memory_events.push_back({ticks(), &storage, bytes, here ? here->id : kNone, here ? here->running : kNone});
}

}  // namespace

void watch_memory(bool on) {
  watchers += on ? 1 : -1;
  if (on && watchers == 1) watch_storages(note_memory);
  if (on || watchers > 0) return;
  watch_storages(nullptr);
  memory_events.clear();
  memory_events.shrink_to_fit();
}

}  // namespace vivace::profiler
