// Mutates valid inputs as a fuzzer would.
#include "fuzz/replay.h"

namespace fuzz {

// xorshift64* (Vigna 2016).
std::size_t Mutator::below(std::size_t bound) {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return bound == 0 ? 0 : static_cast<std::size_t>((state_ * 0x2545f4914f6cdd1d >> 32) % bound);
}

void Mutator::damage(std::string& bytes) {
  static const unsigned char extremes[] = {0, 1, 127, 128, 255, '0', '9', '-', '[', '"'};
  const std::size_t at = below(bytes.size());
  switch (below(8)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.insert(at, 1, static_cast<char>(below(256)));
      break;
    case 2:
      bytes.erase(at, 1 + below(4));
      break;
    case 3:
      bytes.insert(at, bytes.substr(below(bytes.size()), below(16)));
      break;
    case 4: {  // the rest of another seed
      const std::string& other = seeds_[below(seeds_.size())];
      bytes = bytes.substr(0, at) + other.substr(below(other.size()));
      break;
    }
    case 5:
      if (!bytes.empty()) bytes[at] = static_cast<char>(extremes[below(sizeof extremes)]);
      break;
    default:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
  }
}

std::string Mutator::next() {
  std::string bytes = seeds_[below(seeds_.size())];
  for (std::size_t pieces = 1 + below(4); pieces > 0; --pieces) damage(bytes);
  return bytes;
}

}  // namespace fuzz
