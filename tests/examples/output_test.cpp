// Results of the examples as text: curves and confusion tables.
#include "common/output.h"

#include "support/catch.h"
#include "support/files.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

namespace {

// Returns the text that a function prints.
std::string printed(const std::function<void()>& print) {
  const std::string path = support::temporary("printed");
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  REQUIRE(std::freopen(path.c_str(), "w", stdout));
  print();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  return support::read_file(path);
}

}  // namespace

TEST_CASE("print_curve shows means of steps between the least and the greatest one") {
  std::vector<double> values(120);
  std::iota(values.rbegin(), values.rend(), 0.0);
  const std::string text = printed([&] { example::print_curve("a line", values); });
  INFO(text);
  CHECK_THAT(text, support::Contains("\na line\n   118.5 |*****   ") &&
                       support::Contains("     0.5 |      ") &&
                       support::Contains("  *****\n         +------") && support::Contains(" 120\n"));
  CHECK(std::ranges::count(text, '*') == 60);
  CHECK(printed([] { example::print_curve("none", {}); }).empty());
  CHECK_THAT(printed([] { example::print_curve("one NaN", {2, 1, NAN}); }), support::Contains("|*  \n"));
  const std::string one = printed([] { example::print_curve("constant", {3}); });
  CHECK_THAT(one, support::Contains("       3 |*\n         +-\n          1\n"));
}

TEST_CASE("print_confusion shows counts of true and predicted classes and the recall") {
  ebb::watch::Classification result(ebb::watch::ClassificationOptions(2).confusion_matrix(true));
  result.update(ebb::tensor({0, 0, 1, 1, 1}), ebb::tensor({0, 0, 0, 1, 1}));
  const std::string expected =
      "\nrows: true classes; columns: predictions\n"
      "             cat   dog  recall\n"
      "       cat     2     1   66.7%\n"
      "       dog     .     2  100.0%\n";
  CHECK(printed([&] { example::print_confusion(result, {"cat", "dog"}); }) == expected);
}

TEST_CASE("numbers returns the elements of a tensor in their order") {
  CHECK(example::numbers(ebb::tensor({{1, 2}, {3, 4}}).t()) == std::vector<double>{1, 3, 2, 4});
}
