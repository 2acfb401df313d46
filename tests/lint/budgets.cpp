// Reads and checks the budgets of budgets.txt.
#include "budgets.h"

#include "support/catch.h"
#include "support/files.h"

#include <sstream>
#include <stdexcept>

namespace lint {

std::map<std::string, std::int64_t> read_budgets(const std::string& text) {
  std::map<std::string, std::int64_t> budgets;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, explanation;
    std::int64_t most = 0;
    if (!(words >> name >> most >> explanation) || most <= 0 || !budgets.emplace(name, most).second)
      throw std::runtime_error("budgets.txt: not a budget: " + line);
  }
  return budgets;
}

void check_budget(const std::string& name, std::int64_t used) {
  const auto budgets = read_budgets(support::read_file(source_dir() + "/tests/lint/budgets.txt"));
  REQUIRE(budgets.contains(name));
  INFO(name << ": " << used << " of " << budgets.at(name));
  CHECK(used <= budgets.at(name));
  CHECK(used >= budgets.at(name) / 2);
}

}  // namespace lint
