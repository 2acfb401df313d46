// Parts of error messages: names of types, the names nearest to one that was not found, and more behind a
// message.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

namespace ebb::detail {

/// "std::vector<float>" of typeid(std::vector<float>), as far as the compiler says.
std::string demangled(const std::type_info& type);

/// ` (nearest: "conv1.weight")`, with up to three names at the least edit distance, or nothing if none is
/// near. Two neighbouring characters swapped are one edit, a digit counts twice, and of names equally far
/// those whose last component is nearer come first.
std::string near_names(const std::string& wanted, const std::vector<std::string>& have);

/// Within a handler: throws the error anew, of its own type, with `more` behind its message. What is none of
/// ebb's own types goes on as it is.
[[noreturn]] void rethrow_with(const std::string& more);

}  // namespace ebb::detail
