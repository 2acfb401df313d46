// The version of the library, as a string.
#include <ebb/core/version.h>

namespace ebb {

const char* version() noexcept { return EBB_VERSION; }

}  // namespace ebb
