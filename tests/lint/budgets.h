// Reads and checks the budgets of budgets.txt.
#pragma once

#include "support/catch.h"
#include "support/files.h"

#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace lint {

/// Returns the budgets by name. Throws std::runtime_error for a line that is not "name number explanation".
inline std::map<std::string, std::int64_t> read_budgets(const std::string& text) {
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

/// Checks that `used` is at most the budget of that name, and at least half of it: a budget that is far too
/// large limits nothing.
inline void check_budget(const std::string& name, std::int64_t used) {
  const auto budgets = read_budgets(support::read_file(source_dir() + "/tests/lint/budgets.txt"));
  REQUIRE(budgets.contains(name));
  INFO(name << ": " << used << " of " << budgets.at(name));
  CHECK(used <= budgets.at(name));
  CHECK(used >= budgets.at(name) / 2);
}

}  // namespace lint
