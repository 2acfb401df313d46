// current_place: the module whose forward is running, which nodes record.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>

namespace ebb::autograd {

/// The index of this thread's running module (src/autograd/diagnostics.h), or 0 outside of modules. Calls of
/// modules set it.
extern EBB_API constinit thread_local std::uint32_t current_place [[gnu::tls_model("initial-exec")]];

}  // namespace ebb::autograd
