// The version of ebb: macros for the headers, and a function for the library.
#pragma once

#include <ebb/core/api.h>

#define EBB_VERSION_MAJOR 0
#define EBB_VERSION_MINOR 1
#define EBB_VERSION_PATCH 0
/// "0.1.0"
#define EBB_VERSION "0.1.0"

namespace ebb {

/// Returns the version of the loaded library: EBB_VERSION of the headers from which the library was built.
EBB_API const char* version() noexcept;

}  // namespace ebb
