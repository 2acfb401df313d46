// Parts of error messages: type names, suggestions for unknown names, and text appended to an error.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

namespace ebb::detail {

/// Returns for example "std::vector<float>" for typeid(std::vector<float>).
std::string demangled(const std::type_info& type);

/// Returns for example ` (nearest: "conv1.weight")`, with up to three names at the smallest edit distance, or
/// an empty string if no name is near. A swap of neighbours counts as one edit, and the edit of a digit as
/// two. Of names at the same distance, those whose last component is nearer come first.
std::string near_names(const std::string& wanted, const std::vector<std::string>& have);

/// Throws the current error again, with the same type and `more` appended to its message. Errors that are not
/// ebb's own types are rethrown unchanged. Must be called in a catch handler.
[[noreturn]] void rethrow_with(const std::string& more);

}  // namespace ebb::detail
