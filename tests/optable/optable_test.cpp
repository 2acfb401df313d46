// Makes a test case of every row.
#include "optable/checks.h"

#include <catch2/catch.hpp>

#include <set>

namespace {

class RowTest : public Catch::ITestInvoker {
 public:
  explicit RowTest(const optable::Row& row) : row_(row) {}
  void invoke() const override {
    // Several outputs or none, the first must work before the rest is worth asking.
    optable::check_forward(row_);
    optable::check_derivatives(row_);
    optable::check_adjoint(row_);
    optable::check_halves(row_);
    optable::check_layouts(row_);
    optable::check_subsets(row_);
    optable::check_in_place(row_);
    optable::check_repeatable(row_);
    optable::check_errors(row_);
    optable::check_misuse(row_);
    optable::check_points(row_);
    optable::check_dtypes(row_);
    optable::check_pointwise(row_);
    optable::check_large(row_);
    optable::check_compiled(row_);
  }

 private:
  const optable::Row& row_;
};

const bool registered = [] {
  for (const optable::Row* row : optable::rows())
    Catch::AutoReg(new RowTest(*row), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                   Catch::NameAndTags("op " + row->name, "[optable]"));
  return true;
}();

}  // namespace

TEST_CASE("the table has rows, each with samples and a name of its own") {
  REQUIRE(registered);
  std::set<std::string> names;
  for (const optable::Row* row : optable::rows()) {
    INFO(row->name);
    CHECK_FALSE(row->shape_sets.empty());
    CHECK(names.insert(row->name).second);
  }
  REQUIRE(names.size() > 400);
}
