// The Generator object of Python, which is the stream itself, and the default one that manual_seed seeds.
#pragma once
#include "runtime/core/device.h"
#include "runtime/core/object.h"
#include "runtime/random/stream.h"

namespace vivace {

struct Generator : Object {
  RandomStream stream;
  Device device;  // that it was made for; numbers are drawn on the CPU
};

/// What calls without a generator draw from; made when the module is.
extern Generator* default_generator;

inline RandomStream& default_stream() { return default_generator->stream; }

/// The stream of an optional Generator argument.
inline RandomStream& stream_of(Object* generator) {
  return generator ? static_cast<Generator*>(generator)->stream : default_stream();
}

}  // namespace vivace
