// The environment's variables.
#pragma once

#include <cstdlib>

namespace ebb::detail {

/// The variable's value, or null where it is not set. Programs that run with other rights than their caller's
/// (set-user-ID) see none: variables name folders, and what is loaded from them.
inline const char* environment(const char* name) { return ::secure_getenv(name); }

}  // namespace ebb::detail
