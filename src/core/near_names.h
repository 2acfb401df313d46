// Suggestions for a name that was not found.
#pragma once

#include <string>
#include <vector>

namespace ebb::detail {

/// ` (nearest: "conv1.weight")`, with up to three names at the least edit distance, or nothing if none is
/// near. Two neighbouring characters swapped are one edit, a digit counts twice, and of names equally far
/// those whose last component is nearer come first.
std::string near_names(const std::string& wanted, const std::vector<std::string>& have);

}  // namespace ebb::detail
