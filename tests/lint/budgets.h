// Reads and checks the budgets of budgets.txt.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace lint {

/// Returns the budgets by name. Throws std::runtime_error for a line that is not "name number explanation".
std::map<std::string, std::int64_t> read_budgets(const std::string& text);

/// Checks that `used` is at most the budget of that name, and at least half of it: a budget that is far too
/// large limits nothing.
void check_budget(const std::string& name, std::int64_t used);

}  // namespace lint
