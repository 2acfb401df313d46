// Random positions of shuffles.
#include <ebb/data/pipeline.h>
#include <ebb/ops/random.h>

#include <limits>

namespace ebb::data::detail {

RandomIndices::RandomIndices()
    : state_(static_cast<std::uint64_t>(
          randint(std::numeric_limits<std::int64_t>::max(), {1}, kLong).item<std::int64_t>())) {}

// SplitMix64 (Steele, Lea and Flood 2014).
std::size_t RandomIndices::below(std::size_t count) {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((z ^ (z >> 31)) % count);
}

}  // namespace ebb::data::detail
