// A tensor that a module takes over from its options.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Another handle to the same elements: to() and clone() of the module replace the data of what it registers,
/// and must leave the tensor of the caller, and those of other modules that were given it, as they are.
inline Variable other_handle(const Variable& x) {
  return x.defined() ? x.detach().set_requires_grad(x.requires_grad()) : x;
}

/// The tensor that a module's reset() makes of its option; `current` is the one that it has. A tensor that
/// needs a gradient is taken itself, so that the gradient arrives, but not by the copy of a module that has
/// it.
inline Variable own_handle(const Variable& x, const Variable& current) {
  return x.defined() && x.requires_grad() && !current.defined() ? x : other_handle(x);
}

}  // namespace ebb::nn
