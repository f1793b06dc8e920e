// Moving a storage's bytes into shared memory.
#include "runtime/core/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/core/error.h"

namespace vivace {

namespace {

/// Of a mapping, at its start; the bytes follow at the alignment of storages.
struct alignas(64) Mapping {
  size_t length;
};

void unmap(void* context) { munmap(context, static_cast<Mapping*>(context)->length); }

}  // namespace

bool is_shared(const Storage& s) { return s.deleter == unmap; }

void share(Storage& s, uint32_t known) {
  if (is_shared(s)) return;
  if (num_tensors(s) > known)
    fail("share_memory_(): other tensors use the same storage; share it before taking views of it, or share a clone()");
  if (!s.resizable) fail("share_memory_(): the memory belongs to another library; share a clone()");
  const size_t length = sizeof(Mapping) + std::max<size_t>(s.nbytes, 1);
  void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) raise(ErrorKind::Memory, str("not enough memory: tried to share ", s.nbytes, " bytes"));
  auto* mapping = new (memory) Mapping{length};
  char* data = reinterpret_cast<char*>(mapping + 1);
  std::memcpy(data, s.data, s.nbytes);
  if (s.deleter) s.deleter(s.context);
  s.data = data;
  s.deleter = unmap;
  s.context = memory;
  s.resizable = false;
}

}  // namespace vivace
