// Storages in memory that forked processes share.
#pragma once
#include "runtime/core/storage.h"

namespace vivace {

/// Moves a storage's bytes there, if they are not there yet. Tensors know where their elements lie, so this throws if
/// more than `known` of them use the storage; those are the caller's to tell.
void share(Storage& storage, uint32_t known);
bool is_shared(const Storage& storage);

}  // namespace vivace
