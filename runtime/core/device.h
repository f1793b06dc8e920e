// Where memory lives. Only CPU and Meta have kernels; the rest of the runtime asks allocators and tables, never the
// kind.
#pragma once
#include <cstdint>

namespace vivace {

enum class DeviceType : uint8_t { CPU, Meta, CUDA, PrivateUse };

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;
  bool operator==(const Device&) const = default;
};

const char* name(DeviceType type);

enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

}  // namespace vivace
