// The random choices of a generator: from a seed, or from the bytes of a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace programs {

class Draw {
 public:
  /// Consecutive seeds give independent choices.
  explicit Draw(std::uint64_t seed) : state_(seed) { state_ = mixed(state_ + 0x2545F4914F6CDD1Dull); }
  /// Consumes the bytes one by one; after the last one, every choice is the first option.
  Draw(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), left_(count) {}

  /// Returns 0, 1, ..., or n - 1; n is positive.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(word(n) % static_cast<std::uint64_t>(n));
  }
  /// Returns low, low + 1, ..., or high.
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  /// Returns true with probability 1 / n.
  bool once_in(std::int64_t n) { return below(n) == n - 1; }
  template <class List>
  const auto& of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  bool is_used_up() const { return bytes_ && left_ == 0; }

 private:
  std::uint64_t word(std::int64_t n) {
    if (bytes_) {
      std::uint64_t value = 0;
      for (std::int64_t reach = 1; reach < n && left_ > 0; reach <<= 8, --left_)
        value = value << 8 | *bytes_++;
      return value;
    }
    return mixed(state_ += 0x9E3779B97F4A7C15ull);
  }
  // SplitMix64 (Steele, Lea and Flood 2014).
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }

  std::uint64_t state_ = 0;
  const std::uint8_t* bytes_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace programs
