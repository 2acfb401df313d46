// Damage, the same on every machine: what a fuzzer does first, without watching where it leads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}
  /// A seed with one to four pieces of damage.
  std::string next();

 private:
  std::size_t below(std::size_t bound);
  void damage(std::string& bytes);

  std::vector<std::string> seeds_;
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace fuzz
