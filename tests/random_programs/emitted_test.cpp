// Emitted sources of random programs are bitwise equal to eager execution.
#include "random_programs/emitted.h"

#include "optable/samples.h"
#include "support/catch.h"

using namespace programs;

TEST_CASE("emitted sources of random programs are bitwise equal to eager execution") {
  const auto all = emitted_programs();
  REQUIRE(all.size() > 10);
  for (const EmittedProgram& each : all) {
    INFO(each.text);
    Calls calls(from_text(each.text));
    for (int i = 0; i < each.calls; ++i) calls(calls.arguments());
    const auto emitted = each.load(EMITTED_FOLDER);
    for (int i = 0; i < 2; ++i) {
      const ebb::variable_list given = calls.arguments();
      const ebb::variable_list results = emitted(given), arguments = calls.arguments();
      optable::require_same_bits(results, calls(arguments));
      optable::require_same_bits(given, arguments);
    }
  }
}
