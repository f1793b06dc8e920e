// Memory that tensors share. Small blocks hold header and data together and come from per-size free lists;
// large ones are cached too, under a byte cap. Counts need the GIL.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "runtime/core/device.h"
#include "runtime/core/object.h"

namespace vivace {

struct Storage;

/// Gives back what a storage's data pointer refers to (not the Storage itself).
using Deleter = void (*)(void* context);

/// How a device hands out memory.
struct Allocator {
  char* (*allocate)(size_t nbytes);
  void (*free)(char* data, size_t nbytes);
};

struct Storage {
  char* data;
  size_t nbytes;
  uint32_t refcount;
  uint32_t version;    // of all views and detach()ed aliases; raised by in-place operators
  uint8_t size_class;  // of the pool; see storage.cpp
  bool resizable;
  Device device;
  const Allocator* allocator;  // null: `deleter` frees
  Deleter deleter;
  void* context;   // passed to deleter
  Object* python;  // weak: the UntypedStorage object, if one was asked for
};

/// Uninitialised, 64-byte aligned memory. Throws Error(Memory).
Storage* allocate_storage(size_t nbytes, Device device = {});
/// Memory that somebody else owns: `deleter(context)` runs, with the GIL held, when the last user is gone.
Storage* wrap_storage(void* data, size_t nbytes, Deleter deleter, void* context);
void free_storage(Storage* storage);

inline void retain(Storage* s) { ++s->refcount; }
inline void release(Storage* s) {
  if (--s->refcount == 0) free_storage(s);
}

/// How many tensors use a storage, which has no other users.
inline uint32_t num_tensors(const Storage& s) { return s.refcount - (s.python ? 1 : 0); }

/// Changes the size and keeps the leading bytes. Throws if the memory would have to move while several tensors use it,
/// since each knows its address; a single user is the caller's to inform.
void resize_storage(Storage* storage, size_t nbytes);

/// Whether fresh memory is filled with NaN, so that reading what nobody wrote shows: the environment variable
/// VIVACE_POISON was 1 at import.
extern const bool poisons_memory;

inline void poison(void* data, size_t nbytes) {
  if (poisons_memory) [[unlikely]]
    std::memset(data, 0xff, nbytes);  // NaN in every floating type
}

/// Uninitialised memory for a kernel's own use; with poison behind it, which shows what is read there.
template <class T>
std::unique_ptr<T[]> scratch(int64_t n) {
  const size_t size = size_t(n) + (poisons_memory ? 4096 : 0);
  std::unique_ptr<T[]> memory(new T[size]);
  poison(static_cast<void*>(memory.get()), size * sizeof(T));
  return memory;
}

/// Empties the cache of large blocks; returns the bytes given back.
size_t empty_cache();

}  // namespace vivace
