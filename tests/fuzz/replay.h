// Reproducible mutations, and a test that every reader survives them.
#pragma once

#include "fuzz/targets.h"
#include "support/catch.h"

#include <cstdint>
#include <string>
#include <vector>

// Reproducible mutations, as a fuzzer starts with, but without coverage feedback.

namespace fuzz {

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}
  /// A seed with one to four mutations.
  std::string next();

 private:
  std::size_t below(std::size_t bound);
  void damage(std::string& bytes);

  std::vector<std::string> seeds_;
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

// Each reader accepts its seeds, and accepts or refuses thousands of mutated ones without a crash and without
// an exception other than ebb::Error. EBB_FUZZ=ON builds the real fuzzers, which use coverage feedback
// (libfuzzer.cpp).

inline std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

inline void replay(const Target& target) {
  for (const std::string& seed : target.seeds()) {
    INFO(target.name << " refuses the seed " << hex(seed));
    // A seed that is already compressed is compressed twice here and is not valid.
    CHECK((target.read(seed) || (target.read == read_gzipped_idx && seed[0] == '\x1f')));
  }
  Mutator mutator(target.seeds());
  constexpr int mutations = 4000;
  int taken = 0;
  for (int i = 0; i < mutations; ++i) {
    const std::string bytes = mutator.next();
    INFO(target.name << " fails on " << hex(bytes));
    REQUIRE_NOTHROW(taken += target.read(bytes));
  }
  // Mutations that are always refused or always accepted would test little.
  CHECK(taken > mutations / 200);
  CHECK(taken < mutations * 3 / 4);
}

}  // namespace fuzz
