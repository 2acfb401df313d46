// A tensor that a module takes over from its options.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Another handle to the same elements, for a buffer: to() and clone() of the module replace the buffer's
/// data and must leave the tensor of the caller, and the buffers of other modules that were given it, as they
/// are. A tensor that needs a gradient is taken itself, so that the gradient arrives.
inline Variable own_handle(const Variable& x) { return x.defined() && !x.requires_grad() ? x.detach() : x; }

}  // namespace ebb::nn
