// The SavedTensorHooks guards of the calling thread.
#pragma once

#include <ebb/autograd/saved_variable.h>

namespace ebb::autograd {

/// Runs the innermost pack hook; the result remembers which unpack hook belongs to it.
std::shared_ptr<void> pack_saved(const Variable& x);
Variable unpack_saved(const std::shared_ptr<void>& packed);

}  // namespace ebb::autograd
