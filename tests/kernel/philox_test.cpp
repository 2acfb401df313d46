// Philox against the test vectors of Random123 for philox4x32-10.
#include "kernel/philox.h"

#include "ops/common/dropout.h"
#include "support/catch.h"

#include <limits>

using ebb::Philox;

TEST_CASE("Philox has the published outputs") {
  std::uint32_t words[4];
  Philox{0, 0}.words(0, words);
  CHECK(words[0] == 0x6627e8d5u);
  CHECK(words[1] == 0xe169c58du);
  CHECK(words[2] == 0xbc57ac4cu);
  CHECK(words[3] == 0x9b00dbd8u);
  Philox{~std::uint64_t{0}, ~std::uint64_t{0}}.words(~std::uint64_t{0}, words);
  CHECK(words[0] == 0x408f276du);
  CHECK(words[1] == 0x41c83b0eu);
  CHECK(words[2] == 0xa20bc7c6u);
  CHECK(words[3] == 0x6d5451fdu);
  Philox{0x299f31d0a4093822u, 0x0370734413198a2eu}.words(0x85a308d3243f6a88u, words);
  CHECK(words[0] == 0xd16cfe09u);
  CHECK(words[1] == 0x94fdccebu);
  CHECK(words[2] == 0x5001e420u);
  CHECK(words[3] == 0x24126ea1u);
}

TEST_CASE("Philox has equal outputs for one counter and for several together") {
  const Philox philox{77, 3};
  const std::uint64_t numbers[3] = {5, ~std::uint64_t{0}, std::uint64_t{1} << 32};
  std::uint32_t together[3][4], alone[4];
  philox.words(numbers, together);
  for (int n = 0; n < 3; ++n) {
    philox.words(numbers[n], alone);
    for (int i = 0; i < 4; ++i) CHECK(together[n][i] == alone[i]);
  }
}

TEST_CASE("the dropout rule keeps all elements at 1, none near 0 and the right share between") {
  const auto kept = [](double probability, double scale) {
    const ebb::drawing::Dropout rule(Philox{77, 3}, probability, scale);
    double sum = 0;
    for (std::uint64_t group = 0; group < 1000; ++group) {
      double x[4] = {1, 1, 1, 1};
      rule(group, x);
      for (const double each : x) sum += each;
    }
    return sum;
  };
  CHECK(kept(1, 1) == 4000);
  CHECK(kept(0x1p-33, std::numeric_limits<double>::max()) == 0);
  CHECK(kept(0.25, 1) == Approx(1000).margin(110));  // four standard deviations
}
