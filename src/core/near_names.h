// Suggestions for a name that was not found.
#pragma once

#include <string>
#include <vector>

namespace ebb::detail {

/// "; did you mean \"conv1.weight\"?" with up to three of the nearest by edit distance, or nothing if none is near.
std::string near_names(const std::string& wanted, const std::vector<std::string>& have);

}  // namespace ebb::detail
