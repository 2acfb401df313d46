// Kernel slots: each has a kernel for every ISA level.
#include <ebb/core/isa.h>

#include "support/all_slots.h"
#include "support/catch.h"

#include <set>

TEST_CASE("every kernel slot has a separate kernel for each ISA level") {
  const std::vector<ebb::testing::Named> slots = ebb::testing::all_slots();
  CHECK(slots.size() > 200);
  std::set<void (*)()> kernels;
  std::size_t declining = 0;
  for (const ebb::testing::Named& s : slots) {
    INFO(s.symbol);
    REQUIRE(s.slot != nullptr);
    const bool declines = ebb::testing::may_decline(*s.slot);
    declining += declines;
    for (const auto kernel : s.slot->cpu) {
      REQUIRE((kernel == nullptr) == declines);
      if (kernel) kernels.insert(kernel);
    }
  }
  CHECK(declining == 3);
  CHECK(kernels.size() == (EBB_TEST_DISPATCH ? 3 : 1) * (slots.size() - declining));
}

TEST_CASE("deterministic mode selects a common ISA level and restores the best one at its end") {
  const std::string_view best = ebb::cpu_isa();
  ebb::use_deterministic_algorithms(true);
  if (EBB_TEST_DISPATCH)
    CHECK(ebb::cpu_isa() == (best == "avx512" ? "avx2" : best));
  else
    CHECK(ebb::cpu_isa() == best);
  ebb::use_deterministic_algorithms(false);
  CHECK(ebb::cpu_isa() == best);
}
