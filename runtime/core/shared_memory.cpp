// The memory begins with a count of the processes that opened it, and of the names that are on their way to one. The
// last to go removes the file. What killed processes leave behind, vivace/multiprocessing/_files.py removes.
#include "runtime/core/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "runtime/core/error.h"

namespace vivace {

namespace {

/// What the memory begins with; the bytes follow at the alignment of storages.
struct alignas(64) Header {
  std::atomic<uint32_t> users;
};

/// What a process knows of memory that it has mapped.
struct Mapping {
  Header* header;
  size_t length;
  std::string name;
  pid_t process;  // that is counted as a user: a child forked from it is not
};
std::unordered_set<Mapping*> mappings;

Mapping& mapping_of(const Storage& s) { return *static_cast<Mapping*>(s.context); }

void leave(Mapping& mapping) {
  if (mapping.process == getpid() && mapping.header->users.fetch_sub(1) == 1) shm_unlink(mapping.name.c_str());
  mapping.process = 0;
}

void unmap(void* context) {
  auto* mapping = static_cast<Mapping*>(context);
  leave(*mapping);
  munmap(mapping->header, mapping->length);
  mappings.erase(mapping);
  delete mapping;
}

/// Names begin with a prefix that processes inherit from the one that started them all.
std::string next_name() {
  static int64_t number = 0;
  const char* family = std::getenv("VIVACE_SHARED_MEMORY");
  return str("/", family ? family : "vivace", "-", getpid(), "-", ++number);
}

class File {
 public:
  File(const std::string& name, int flags) : number_(shm_open(name.c_str(), flags, S_IRUSR | S_IWUSR)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail_to_share(size_t nbytes, int error) {
  fail("can't share ", nbytes, " bytes between processes: ", std::strerror(error),
       error == ENOSPC ? " in /dev/shm" : "");
}

Mapping* map_file(const File& file, std::string name, size_t length) {
  void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) fail_to_share(length, errno);
  auto* mapping = new Mapping{static_cast<Header*>(memory), length, std::move(name), getpid()};
  mappings.insert(mapping);
  return mapping;
}

Mapping* create(size_t nbytes) {
  const size_t length = sizeof(Header) + nbytes;
  std::string name = next_name();
  const File file(name, O_RDWR | O_CREAT | O_EXCL);
  if (file.number() < 0) {
    if (errno == EEXIST) return create(nbytes);  // of an older process that had the same number
    fail_to_share(nbytes, errno);
  }
  // Room that is promised now can't be missing when a kernel writes to it, which would end the process.
  if (const int error = posix_fallocate(file.number(), 0, off_t(length))) {
    shm_unlink(name.c_str());
    fail_to_share(nbytes, error);
  }
  Mapping* mapping = map_file(file, std::move(name), length);
  new (mapping->header) Header{1};
  return mapping;
}

char* bytes_of(const Mapping& mapping) { return reinterpret_cast<char*>(mapping.header + 1); }

}  // namespace

bool is_shared(const Storage& s) { return s.deleter == unmap; }

bool can_share(const Storage& s, uint32_t known) { return is_shared(s) || (s.resizable && num_tensors(s) <= known); }

void share(Storage& s, uint32_t known) {
  if (is_shared(s)) return;
  if (num_tensors(s) > known)
    fail("share_memory_(): other tensors use the same storage; share it before taking views of it, or share a clone()");
  if (!s.resizable) fail("share_memory_(): the memory belongs to another library; share a clone()");
  Mapping* mapping = create(s.nbytes);
  std::memcpy(bytes_of(*mapping), s.data, s.nbytes);
  if (s.deleter) s.deleter(s.context);
  s.data = bytes_of(*mapping);
  s.deleter = unmap;
  s.context = mapping;
  s.resizable = false;
}

Storage* allocate_shared(size_t nbytes) {
  Mapping* mapping = create(nbytes);
  return wrap_storage(bytes_of(*mapping), nbytes, unmap, mapping);
}

std::string lend_shared(Storage& s) {
  const Mapping& mapping = mapping_of(s);
  if (File(mapping.name, O_RDONLY).number() < 0) return {};
  uint32_t users = mapping.header->users;
  while (users != 0)
    if (mapping.header->users.compare_exchange_weak(users, users + 1)) return mapping.name;
  return {};
}

Storage* open_shared(const std::string& name, size_t nbytes) {
  const File file(name, O_RDWR);
  if (file.number() < 0)
    fail("can't open the shared memory ", name, " of another process: ", std::strerror(errno),
         "; each name can be opened once");
  struct stat info;
  if (fstat(file.number(), &info) != 0 || size_t(info.st_size) < sizeof(Header) + nbytes)
    fail("the shared memory ", name, " of another process has less than ", nbytes, " bytes");
  Mapping* mapping = map_file(file, name, sizeof(Header) + nbytes);
  return wrap_storage(bytes_of(*mapping), nbytes, unmap, mapping);
}

void leave_shared_memory() {
  for (Mapping* mapping : mappings) leave(*mapping);
}

}  // namespace vivace
