// Registers a test case for every row.
#include "optable/checks.h"
#include "support/catch.h"

#include <set>

namespace {

void check(const optable::Row& row) {
  // check_forward() runs first, because the other checks make sense only if it passes.
  optable::check_forward(row);
  optable::check_derivatives(row);
  optable::check_adjoint(row);
  optable::check_halves(row);
  optable::check_layouts(row);
  optable::check_subsets(row);
  optable::check_in_place(row);
  optable::check_repeatable(row);
  optable::check_errors(row);
  optable::check_misuse(row);
  optable::check_points(row);
  optable::check_dtypes(row);
  optable::check_pointwise(row);
  optable::check_large(row);
  optable::check_compiled(row);
  optable::check_upstream(row);
  optable::check_threads(row);
  optable::check_lengths(row);
  optable::check_shrunk(row);
  optable::check_channels_last(row);
  optable::check_far_out(row);
}

const bool registered = [] {
  for (const optable::Row* row : optable::rows())
    support::add_case("op " + row->name, "[optable]", [row] { check(*row); });
  return true;
}();

}  // namespace

TEST_CASE("every row of the table has samples and a unique name") {
  REQUIRE(registered);
  std::set<std::string> names;
  for (const optable::Row* row : optable::rows()) {
    INFO(row->name);
    CHECK_FALSE(row->shape_sets.empty());
    CHECK(names.insert(row->name).second);
  }
  REQUIRE(names.size() > 400);
}
