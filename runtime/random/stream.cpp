// The twister itself, and its serialised form.
#include "runtime/random/stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace vivace {

namespace {

/// PyTorch's serialised CPU state, byte for byte (little endian).
struct SerialState {
  uint64_t initial_seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double normal_x;  // unused since normals were cached in polar form
  double spare_normal;
  double normal_rho;
  int32_t has_spare_normal;
  int32_t padding;
  float spare_float;
  uint8_t has_spare_float;
  uint8_t tail[3];
};
static_assert(sizeof(SerialState) == RandomStream::kStateBytes);

constexpr int kShift = 397;

inline uint32_t twist(uint32_t high, uint32_t low) {
  const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (mixed >> 1) ^ (-(low & 1) & 0x9908b0dfu);
}

}  // namespace

void RandomStream::seed(uint64_t seed) {
  initial_seed_ = seed;
  state_[0] = uint32_t(seed);
  for (uint32_t i = 1; i < kWords; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  left_ = 1;
  next_ = 0;
  spare_normal_ = 0;
  has_spare_normal_ = false;
  spare_float_ = 0;
  has_spare_float_ = false;
}

void RandomStream::refill() {
  uint32_t* s = state_;
  for (int i = 0; i < kWords - kShift; ++i) s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
  for (int i = kWords - kShift; i < kWords - 1; ++i) s[i] = s[i + kShift - kWords] ^ twist(s[i], s[i + 1]);
  s[kWords - 1] = s[kShift - 1] ^ twist(s[kWords - 1], s[0]);
  left_ = kWords;
  next_ = 0;
}

void RandomStream::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (left_ == 1) {
      refill();
      ++left_;  // next32 counts the draw before it refills, this loop after
    }
    const int64_t count = std::min<int64_t>(n, left_ - 1);
    for (int64_t i = 0; i < count; ++i) out[i] = temper(state_[next_ + i]);
    next_ += uint32_t(count);
    left_ -= int32_t(count);
    out += count;
    n -= count;
  }
}

double RandomStream::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double angle = 2 * std::numbers::pi * uniform_double();
  const double radius = std::sqrt(-2 * std::log1p(-uniform_double()));
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

void RandomStream::write_state(unsigned char* bytes) const {
  SerialState serial{};
  serial.initial_seed = initial_seed_;
  serial.left = left_;
  serial.seeded = 1;
  serial.next = next_;
  std::copy(state_, state_ + kWords, serial.words);
  serial.spare_normal = has_spare_normal_ ? spare_normal_ : 0;
  serial.has_spare_normal = has_spare_normal_;
  serial.spare_float = spare_float_;
  serial.has_spare_float = has_spare_float_;
  std::memcpy(bytes, &serial, sizeof serial);
}

bool RandomStream::read_state(const unsigned char* bytes) {
  SerialState serial;
  std::memcpy(&serial, bytes, sizeof serial);
  if (serial.seeded != 1 || serial.left < 1 || serial.left > kWords || serial.next > kWords) return false;
  if (serial.left > 1 && int64_t(serial.next) + serial.left - 1 > kWords) return false;
  initial_seed_ = serial.initial_seed;
  left_ = serial.left;
  next_ = uint32_t(serial.next);
  std::copy(serial.words, serial.words + kWords, state_);
  spare_normal_ = serial.spare_normal;
  has_spare_normal_ = serial.has_spare_normal != 0;
  spare_float_ = serial.spare_float;
  has_spare_float_ = serial.has_spare_float != 0;
  return true;
}

}  // namespace vivace
