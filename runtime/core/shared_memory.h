// Storages in memory that processes share: files of POSIX shared memory, which count their users. Forked processes see
// the memory as it is; others open it by its name.
#pragma once
#include <string>

#include "runtime/core/storage.h"

namespace vivace {

/// Moves a storage's bytes there, if they are not there yet. Tensors know where their elements lie, so this throws if
/// more than `known` of them use the storage; those are the caller's to tell.
void share(Storage& storage, uint32_t known);
bool is_shared(const Storage& storage);
/// Whether `share` would not throw.
bool can_share(const Storage& storage, uint32_t known);

/// Fresh shared memory.
Storage* allocate_shared(size_t nbytes);
/// The name by which another process opens the memory once; until it does, the memory has a user more. Empty if the
/// memory has no name any more.
std::string lend_shared(Storage& storage);
/// The memory that another process has lent. Throws if it is gone.
Storage* open_shared(const std::string& name, size_t nbytes);
/// This process ends: it is no user of any memory any more.
void leave_shared_memory();

}  // namespace vivace
