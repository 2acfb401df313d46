// The sources stay within their budgets.
#include "budgets.h"

#include "support/catch.h"
#include "support/files.h"
#include "tree.h"

#include <algorithm>
#include <set>

using lint::check_budget, lint::File;

namespace {

// The number of lines of C++ in files for which `counts` is true.
template <class Counts>
std::int64_t lines_of(Counts counts) {
  std::int64_t lines = 0;
  for (const File& file : lint::tree())
    if (file.is_code() && counts(file)) lines += static_cast<std::int64_t>(file.lines.size());
  return lines;
}

}  // namespace

TEST_CASE("no file is longer than its budget") {
  std::int64_t longest = 0;
  for (const File& file : lint::tree()) {
    INFO(file.path << " has " << file.lines.size() << " lines");
    longest = std::max(longest, static_cast<std::int64_t>(file.lines.size()));
    CHECK(file.lines.size() <= 500);
  }
  check_budget("longest_file", longest);
}

TEST_CASE("the repository stays within its file budget") {
  check_budget("files", static_cast<std::int64_t>(lint::count_files()));
}

TEST_CASE("core and autograd stay within their line budget") {
  check_budget("core_lines", lines_of([](const File& file) {
                 return file.in("src/core/") || file.in("src/autograd/") || file.in("include/ebb/core/") ||
                        file.in("include/ebb/autograd/");
               }));
}

TEST_CASE("tests stay within their line budget") {
  check_budget("test_lines", lines_of([](const File& file) { return file.in("tests/"); }));
}

TEST_CASE("budgets are read by name, and an invalid line is refused") {
  CHECK(lint::read_budgets("# all\na 5 apples\n\nb 7 pears of a tree\n") ==
        std::map<std::string, std::int64_t>{{"a", 5}, {"b", 7}});
  for (const char* line : {"a apples", "a 5", "a 0 apples", "a 5 apples\na 6 apples"})
    CHECK_THROWS_WITH(lint::read_budgets(line), support::Contains("not a budget"));
}

TEST_CASE("every budget is checked by a test") {
  const std::string folder = source_dir() + "/tests/lint/";
  const std::string tests =
      support::read_file(folder + "budgets_test.cpp") + support::read_file(folder + "weights_test.cpp");
  for (const auto& [name, most] : lint::read_budgets(support::read_file(folder + "budgets.txt"))) {
    INFO(name);
    CHECK(tests.find("check_budget(\"" + name + "\"") != tests.npos);
  }
}
