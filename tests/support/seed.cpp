// Seeds the default generator before each test case, so that random numbers do not depend on the selected
// cases.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <ebb/core/random.h>

#include "support/catch.h"

namespace {

struct Seed : support::Listener {
  using support::Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo&) override { ebb::manual_seed(2026); }
};
CATCH_REGISTER_LISTENER(Seed)

}  // namespace
