// The engine inside a Generator, inline for the kernels that draw millions of numbers.
#pragma once

#include <ebb/core/random.h>

namespace ebb {

/// MT19937 with 32-bit seeding; Matsumoto & Nishimura, ACM TOMACS 8(1), 1998.
class Mt19937 {
 public:
  explicit Mt19937(std::uint64_t seed) { reset(seed); }
  void reset(std::uint64_t seed);

  std::uint32_t next() {
    if (at_ == kLength) refill();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  /// All that it is: its words, and how many of them are used up.
  std::array<std::uint32_t, 625> words() const {
    std::array<std::uint32_t, 625> all{};
    for (std::size_t i = 0; i < state_.size(); ++i) all[i] = state_[i];
    all.back() = static_cast<std::uint32_t>(at_);
    return all;
  }
  /// The last is at most 624.
  void set_words(const std::array<std::uint32_t, 625>& all) {
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = all[i];
    at_ = static_cast<int>(all.back());
  }
  std::uint64_t next64() {
    const std::uint64_t high = next();
    return high << 32 | next();
  }

 private:
  static constexpr int kLength = 624, kMiddle = 397;
  void refill();

  std::array<std::uint32_t, kLength> state_;
  int at_ = kLength;
};

struct Generator::State {
  explicit State(std::uint64_t s) : engine(s), seed(s) {}

  Mt19937 engine;
  std::uint64_t seed;
  std::optional<double> next_double;
  std::optional<float> next_float;
  mutable std::mutex mutex;
};

}  // namespace ebb
