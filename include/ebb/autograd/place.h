// The module whose forward is running, for nodes to remember.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>

namespace ebb::autograd {

/// That of this thread, by number (src/autograd/places.h); 0 outside of modules. Calls of modules set it.
extern EBB_API constinit thread_local std::uint32_t current_place [[gnu::tls_model("initial-exec")]];

}  // namespace ebb::autograd
