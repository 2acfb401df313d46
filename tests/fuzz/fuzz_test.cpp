// The readers of ebb survive damaged inputs: a mutator damages valid seeds as a fuzzer would.
#include "fuzz/targets.h"
#include "support/catch.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace fuzz;

namespace {

// Reproducible mutations, as a fuzzer starts with, but without coverage feedback.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}
  /// Returns a seed with one to four mutations.
  std::string next();

 private:
  std::size_t below(std::size_t bound);
  void damage(std::string& bytes);

  std::vector<std::string> seeds_;
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

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

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

// Each reader accepts its seeds, and accepts or refuses thousands of mutated ones without a crash and without
// an exception other than ebb::Error. EBB_FUZZ=ON builds the real fuzzers, which use coverage feedback
// (libfuzzer.cpp).
void replay(const Target& target) {
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

}  // namespace

TEST_CASE("the safetensors reader accepts or rejects damaged files without a crash") { replay(kTargets[0]); }
TEST_CASE("the IDX reader accepts or rejects damaged files without a crash") { replay(kTargets[1]); }
TEST_CASE("the IDX reader accepts or rejects damaged data inside gzip without a crash") {
  replay(kTargets[2]);
}
TEST_CASE("the CSV reader accepts or rejects damaged files without a crash") { replay(kTargets[3]); }
TEST_CASE("the vocabulary reader accepts or rejects damaged files without a crash") { replay(kTargets[4]); }

TEST_CASE("the PyTorch reader accepts or rejects damaged files without a crash") { replay(kFileTargets[0]); }
TEST_CASE("the PyTorch reader accepts or rejects damaged pickles without a crash") {
  replay(kFileTargets[1]);
}
TEST_CASE("the npy reader accepts or rejects damaged files without a crash") { replay(kFileTargets[2]); }
TEST_CASE("the npz reader accepts or rejects damaged files without a crash") { replay(kFileTargets[3]); }
TEST_CASE("the reader of sharded checkpoints accepts or rejects a damaged index without a crash") {
  replay(kFileTargets[4]);
}
TEST_CASE("the npz reader accepts or rejects damaged data inside deflate without a crash") {
  replay(kFileTargets[6]);
}
TEST_CASE("the reader of sharded checkpoints accepts or rejects a damaged shard without a crash") {
  replay(kFileTargets[7]);
}
TEST_CASE("loading a damaged checkpoint changes nothing") { replay(kFileTargets[5]); }

#ifdef EBB_FUZZ_VISION
TEST_CASE("the JPEG reader accepts or rejects damaged files without a crash") { replay(kVisionTargets[0]); }
TEST_CASE("the PNG reader accepts or rejects damaged files without a crash") { replay(kVisionTargets[1]); }
TEST_CASE("the CIFAR reader accepts or rejects damaged files without a crash") { replay(kVisionTargets[2]); }
#endif
