// Errors on their way out, with more to say.
#pragma once

#include <string>

namespace ebb::detail {

/// Within a handler: throws the error anew, of its own type, with `more` behind its message. What is none of
/// ebb's own types goes on as it is.
[[noreturn]] void rethrow_with(const std::string& more);

}  // namespace ebb::detail
