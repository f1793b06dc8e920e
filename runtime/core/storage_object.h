// Storages that own their Python object: one that is watched by weak references or has attributes lives as long as the
// memory does, though the program may hold no reference to it.
#pragma once
#include "runtime/core/storage.h"

namespace vivace {

/// Leaves an object to its storage, which others use and which the object has given up: takes over a reference.
void keep_object(Storage& storage, Object* object);
/// The object that was left to a storage, null if none was. Gives the reference back, and the object uses the storage.
Object* take_object(Storage& storage);

}  // namespace vivace
