// Storage pools. A small block is one allocation, header then data, on a free list of its size class; a large block is
// the same in classes of four steps per power of two, kept while the cache of large blocks stays under its cap.
#include "runtime/core/storage.h"

#include <malloc.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/foreign_memory.h"
#include "runtime/core/pool.h"
#include "runtime/core/storage_object.h"

namespace vivace {

FreeList small_storages[kSmallClasses];

// The lists of small blocks, which inline code takes from, then pass for full: every block comes from allocate_storage.
const bool poisons_memory = [] {
  const char* wanted = std::getenv("VIVACE_POISON");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return false;
  for (FreeList& list : small_storages) list.length = kSmallKeep;
  return true;
}();

namespace {

static_assert(sizeof(Storage) == 64, "data follows the header at the alignment of a cache line");

constexpr size_t kAlignment = 64;
constexpr int kLargeClasses = 4 * 36;
constexpr size_t kLargeCacheCap = size_t(512) << 20;  // bytes kept in large blocks
constexpr uint8_t kUnpooled = 255;                    // a header alone
constexpr uint8_t kOwnsObject = 254;                  // so that its end comes by way of this file; see `kept_objects`

/// The objects that storages own, and what the size class of their storages is.
struct KeptObject {
  Object* object;
  uint8_t size_class;
};
std::unordered_map<const Storage*, KeptObject> kept_objects;

FreeList large_storages[kLargeClasses];
size_t large_cached = 0;

// While memory is watched, the lists of small blocks, which inline code uses, are empty and pass for full, and blocks
// come from these: so every block comes and goes by way of this file, and nothing is asked where nobody watches.
FreeList watched_storages[kSmallClasses];
void (*watch)(const Storage& storage, int64_t bytes) = nullptr;

inline FreeList& list_of(int size_class) {
  if (size_class >= kSmallClasses) return large_storages[size_class - kSmallClasses];
  return watch ? watched_storages[size_class] : small_storages[size_class];
}

/// Class of a request; `capacity` gets the bytes that blocks of the class hold.
inline int class_of(size_t nbytes, size_t& capacity) {
  if (nbytes <= kLargestSmall) {
    const int c = int(small_class(nbytes));
    capacity = kSmallestBlock << c;
    return c;
  }
  const int exponent = std::bit_width(nbytes - 1);  // 2^(exponent-1) < nbytes <= 2^exponent
  const size_t step = size_t(1) << (exponent - 3);
  capacity = (nbytes + step - 1) & ~(step - 1);
  return kSmallClasses + 4 * (exponent - 13) + int((capacity >> (exponent - 3)) - 5);
}

/// Bytes that blocks of a large class hold: the inverse of class_of.
size_t capacity_of(int size_class) {
  const int k = size_class - kSmallClasses;
  return size_t(k % 4 + 5) << (k / 4 + 10);
}

constexpr size_t kMostBytes = size_t(1) << 46;  // more is refused without asking for it

/// RuntimeError, as in PyTorch, in the words that programs which try a smaller batch look for.
[[noreturn]] void fail_memory(size_t nbytes) {
  fail("DefaultCPUAllocator: can't allocate memory: you tried to allocate ", nbytes,
       " bytes. Error code 12 (Cannot allocate memory)");
}

Storage* carve(int size_class, size_t capacity, size_t nbytes) {
  auto* s = static_cast<Storage*>(std::aligned_alloc(kAlignment, sizeof(Storage) + ((capacity + 63) & ~size_t(63))));
  if (!s) fail_memory(nbytes);
  s->size_class = uint8_t(size_class);
  s->data = reinterpret_cast<char*>(s + 1);
  s->resizable = true;
  s->device = {};
  s->allocator = nullptr;
  s->deleter = nullptr;
  s->python = nullptr;
  return s;
}

/// Bytes that a storage that may be resized has room for.
size_t capacity_in_use(const Storage& s) {
  if (s.deleter) return malloc_usable_size(s.data);  // resized before
  const int c = s.size_class == kOwnsObject ? kept_objects.at(&s).size_class : s.size_class;
  return c < kSmallClasses ? kSmallestBlock << c : capacity_of(c);
}

Storage* bare_header(void* data, size_t nbytes) {
  auto* s = static_cast<Storage*>(std::calloc(1, sizeof(Storage)));
  if (!s) fail_memory(sizeof(Storage));
  s->data = static_cast<char*>(data);
  s->nbytes = nbytes;
  s->refcount = 1;
  s->size_class = kUnpooled;
  s->device = Device{};
  return s;
}

}  // namespace

Storage* allocate_storage(size_t nbytes, Device device) {
  if (device.type != DeviceType::CPU) {
    if (device.type != DeviceType::Meta) fail("vivace has no memory on device '", name(device.type), "'");
    Storage* s = bare_header(nullptr, nbytes);
    s->device = device;
    s->resizable = true;
    return s;
  }
  if (nbytes > kMostBytes) fail_memory(nbytes);
  size_t capacity;
  const int c = class_of(nbytes, capacity);
  FreeList& list = list_of(c);
  Storage* s = list.head;
  if (s) {
    list.head = static_cast<Storage*>(s->context);
    --list.length;
    if (c >= kSmallClasses) large_cached -= capacity;
  } else {
    s = carve(c, capacity, nbytes);
  }
  poison(s->data, capacity);
  s->nbytes = nbytes;
  s->refcount = 1;
  s->version = 0;
  if (watch) [[unlikely]]
    watch(*s, int64_t(nbytes));
  return s;
}

Storage* wrap_storage(void* data, size_t nbytes, Deleter deleter, void* context) {
  Storage* s = bare_header(data, nbytes);
  s->deleter = deleter;
  s->context = context;
  return s;
}

void keep_object(Storage& s, Object* object) {
  kept_objects.emplace(&s, KeptObject{object, s.size_class});
  s.size_class = kOwnsObject;
  s.python = nullptr;
  release(&s);
}

Object* take_object(Storage& s) {
  if (s.size_class != kOwnsObject) return nullptr;
  const auto found = kept_objects.find(&s);
  const KeptObject kept = found->second;
  kept_objects.erase(found);
  s.size_class = kept.size_class;
  s.python = kept.object;
  retain(&s);
  return kept.object;
}

void free_storage(Storage* s) {
  if (s->size_class == kOwnsObject) {  // its end is that of the object, unless the program holds it
    Py_DECREF(take_object(*s));
    return;
  }
  if (s->size_class == kUnpooled) {
    if (s->deleter)
      s->deleter(s->context);
    else if (s->allocator)
      s->allocator->free(s->data, s->nbytes);
    std::free(s);
    return;
  }
  if (watch) [[unlikely]]
    watch(*s, -int64_t(s->nbytes));
  if (s->deleter) {  // resized: the data lives apart from the header
    s->deleter(s->context);
    s->deleter = nullptr;
    s->resizable = true;
    s->data = reinterpret_cast<char*>(s + 1);
  }
  const int c = s->size_class;
  FreeList& list = list_of(c);
  if (kPooling && c < kSmallClasses) {
    if (list.length < kSmallKeep) {
      s->context = list.head;
      list.head = s;
      ++list.length;
      return;
    }
  } else if (kPooling) {
    const size_t capacity = capacity_of(c);
    if (large_cached + capacity <= kLargeCacheCap) {
      s->context = list.head;
      list.head = s;
      ++list.length;
      large_cached += capacity;
      return;
    }
  }
  std::free(s);
}

void resize_storage(Storage* s, size_t nbytes) {
  if (nbytes == s->nbytes) return;
  if (!s->resizable) fail("Trying to resize storage that is not resizable");
  if (s->device.type == DeviceType::Meta) {
    s->nbytes = nbytes;
    return;
  }
  if (s->device.type == DeviceType::PrivateUse) return foreign_memory.resize(*s, nbytes);
  const int64_t more = int64_t(nbytes) - int64_t(s->nbytes);
  if (nbytes <= capacity_in_use(*s)) {
    if (nbytes > s->nbytes) poison(s->data + s->nbytes, nbytes - s->nbytes);
    s->nbytes = nbytes;
    if (watch) watch(*s, more);
    return;
  }
  if (num_tensors(*s) > 1)
    fail("can't enlarge a storage of ", s->nbytes, " bytes to ", nbytes, " while several tensors use it");
  if (nbytes > kMostBytes) fail_memory(nbytes);
  char* data = static_cast<char*>(std::aligned_alloc(kAlignment, (nbytes + kAlignment) & ~(kAlignment - 1)));
  if (!data) fail_memory(nbytes);
  std::memcpy(data, s->data, s->nbytes);
  poison(data + s->nbytes, nbytes - s->nbytes);
  if (s->deleter) s->deleter(s->context);
  s->data = data;
  s->nbytes = nbytes;
  s->deleter = [](void* p) { std::free(p); };
  s->context = data;
  if (watch) watch(*s, more);
}

void watch_storages(void (*watcher)(const Storage& storage, int64_t bytes)) {
  if ((watcher != nullptr) != (watch != nullptr))
    for (int c = 0; c < kSmallClasses; ++c) {
      std::swap(small_storages[c], watched_storages[c]);
      if (watcher) small_storages[c].length = kSmallKeep;
    }
  watch = watcher;
}

size_t empty_cache() {
  const size_t freed = large_cached;
  for (FreeList& list : large_storages) {
    while (Storage* s = list.head) {
      list.head = static_cast<Storage*>(s->context);
      std::free(s);
    }
    list.length = 0;
  }
  large_cached = 0;
  return freed;
}

namespace {
const char* device_names[] = {"cpu", "meta", "cuda", "privateuseone"};
}

const char* name(DeviceType type) { return device_names[int(type)]; }

void set_backend_name(const char* text) { device_names[int(DeviceType::PrivateUse)] = text; }

std::string text_of(Device device) {
  return device.index < 0 ? std::string(name(device.type)) : str(name(device.type), ":", int(device.index));
}

}  // namespace vivace
