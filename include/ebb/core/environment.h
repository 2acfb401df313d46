// environment(): reads environment variables.
#pragma once

#include <cstdlib>

namespace ebb::detail {

/// Returns the variable's value, or null if it is not set. Set-user-ID programs run with more rights than
/// their caller. They get null for all variables, because a variable can name a folder from which code is
/// loaded.
inline const char* environment(const char* name) { return ::secure_getenv(name); }

}  // namespace ebb::detail
