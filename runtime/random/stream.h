// The Mersenne twister (mt19937) with the state that PyTorch's CPU generator keeps: one seed gives one stream, here and
// there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vivace {

class RandomStream {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  /// Bytes of PyTorch's serialised CPU state.
  static constexpr size_t kStateBytes = 5056;

  explicit RandomStream(uint64_t seed = kDefaultSeed) { this->seed(seed); }
  /// Starts over; only the low 32 bits choose the stream, all 64 are remembered.
  void seed(uint64_t seed);
  uint64_t initial_seed() const { return initial_seed_; }

  uint32_t next32() {
    if (--left_ == 0) refill();
    return temper(state_[next_++]);
  }
  /// Two draws, the first one is the high word.
  uint64_t next64() {
    const uint64_t high = next32();
    return high << 32 | next32();
  }
  /// The same as n calls of next32.
  void fill(uint32_t* out, int64_t n);

  /// Uniform in [0, 1) with 24 random bits.
  float uniform_float() { return float(next32() & 0xffffff) * 0x1p-24f; }
  /// Uniform in [0, 1) with 53 random bits.
  double uniform_double() { return double(next64() & ((uint64_t(1) << 53) - 1)) * 0x1p-53; }
  /// Standard normal from two uniform doubles; the second normal of each pair is kept for the next call.
  double normal();

  /// PyTorch's layout of the state, `kStateBytes` long.
  void write_state(unsigned char* bytes) const;
  /// False, and nothing changed, if the bytes are no valid state.
  bool read_state(const unsigned char* bytes);

 private:
  static constexpr int kWords = 624;
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill();

  uint32_t state_[kWords];
  int32_t left_;   // draws until the next refill, counted as PyTorch does: 1 means that it comes first
  uint32_t next_;  // index of the next word
  uint64_t initial_seed_;
  double spare_normal_;
  bool has_spare_normal_;
  float spare_float_;  // PyTorch keeps these for callers that we don't have; they travel with the state
  bool has_spare_float_;
};

}  // namespace vivace
