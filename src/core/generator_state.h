// The Mersenne Twister of a Generator. It is inline, for kernels that draw millions of numbers.
#pragma once

#include <ebb/core/random.h>

#include "core/fork.h"

#include <algorithm>

namespace ebb {

namespace detail {

inline constexpr int kTwisterWords = 624, kTwisterMiddle = 397;

// Computes the next 624 words. The loop has no branches, and each kernel file compiles its own copy with its
// own instruction set, so the compiler vectorises the loop. The function is not inlined into the loops that
// draw numbers, because it is long and runs only once per 624 words.
[[gnu::noinline, maybe_unused]] static void twist_words(std::uint32_t* state) {
  const auto twist = [](std::uint32_t high, std::uint32_t low, std::uint32_t other) {
    const std::uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return other ^ (y >> 1) ^ ((0u - (low & 1u)) & 0x9908b0dfu);
  };
  constexpr int kLength = kTwisterWords, kMiddle = kTwisterMiddle, kRest = kLength - kMiddle;
  for (int i = 0; i < kRest; ++i) state[i] = twist(state[i], state[i + 1], state[i + kMiddle]);
  for (int i = kRest; i < kLength - 1; ++i) state[i] = twist(state[i], state[i + 1], state[i - kRest]);
  state[kLength - 1] = twist(state[kLength - 1], state[0], state[kMiddle - 1]);
}

}  // namespace detail

/// MT19937 with a 32-bit seed; Matsumoto & Nishimura, ACM TOMACS 8(1), 1998.
class Mt19937 {
 public:
  explicit Mt19937(std::uint64_t seed) { reset(seed); }
  void reset(std::uint64_t seed);

  std::uint32_t next() {
    if (at_ == kLength) refill();
    return tempered(state_[at_++]);
  }
  /// Writes the next n words.
  void next(std::uint32_t* out, std::int64_t n) {
    while (n > 0) {
      if (at_ == kLength) refill();
      const int count = static_cast<int>(std::min<std::int64_t>(n, kLength - at_));
      const std::uint32_t* const from = state_.data() + at_;
      for (int i = 0; i < count; ++i) out[i] = tempered(from[i]);
      at_ += count;
      out += count;
      n -= count;
    }
  }
  /// Returns the complete state: the 624 words, and the number of words already used.
  std::array<std::uint32_t, 625> words() const {
    std::array<std::uint32_t, 625> all{};
    for (std::size_t i = 0; i < state_.size(); ++i) all[i] = state_[i];
    all.back() = static_cast<std::uint32_t>(at_);
    return all;
  }
  /// Sets the complete state in the format of words(). The last word must be at most 624.
  void set_words(const std::array<std::uint32_t, 625>& all) {
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = all[i];
    at_ = static_cast<int>(all.back());
  }
  bool operator==(const Mt19937&) const = default;

  std::uint64_t next64() {
    const std::uint64_t high = next();
    return high << 32 | next();
  }

 private:
  static constexpr int kLength = detail::kTwisterWords;

  static std::uint32_t tempered(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill() {
    detail::twist_words(state_.data());
    at_ = 0;
  }

  std::array<std::uint32_t, kLength> state_;
  int at_ = kLength;
};

struct Generator::State {
  explicit State(std::uint64_t s) : engine(s), seed(s) {}

  Mt19937 engine;
  std::uint64_t seed;
  std::optional<double> next_double;
  std::optional<float> next_float;
  mutable detail::OpenInChild mutex;
};

}  // namespace ebb
