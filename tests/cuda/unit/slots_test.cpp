// Every kernel slot of the library has a kernel on every device, but for those that may decline.
#include "support/all_slots.h"
#include "support/catch.h"

TEST_CASE("every slot has a kernel on every device") {
  REQUIRE(ebb::cuda::is_available());  // loads the plugin
  const std::vector<ebb::testing::Named> slots = ebb::testing::all_slots();
  CHECK(slots.size() > 200);
  for (const ebb::testing::Named& s : slots) {
    INFO(s.symbol);
    REQUIRE(s.slot != nullptr);
    CHECK(s.slot->name[0] != '\0');
    for (const auto kernel : s.slot->cpu) CHECK((kernel == nullptr) == ebb::testing::may_decline(*s.slot));
    CHECK(s.slot->cuda.load() != nullptr);
  }
}
