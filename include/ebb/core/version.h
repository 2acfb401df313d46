// The version of ebb: that of the headers, as macros, and that of the library, as a function.
#pragma once

#include <ebb/core/api.h>

#define EBB_VERSION_MAJOR 0
#define EBB_VERSION_MINOR 1
#define EBB_VERSION_PATCH 0
/// "0.1.0"
#define EBB_VERSION "0.1.0"

namespace ebb {

/// The version of the library that the program runs with: EBB_VERSION of the headers it was built from.
EBB_API const char* version() noexcept;

}  // namespace ebb
