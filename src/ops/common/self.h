// The tensor of a method, and the tensor that an in-place op returns.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Returns the tensor whose method runs. Variable is the only class derived from those of ebb/methods.
template <class Methods>
const Variable& self(const Methods* methods) {
  return static_cast<const Variable&>(*methods);
}

/// Returns the result of an in-place op. The op takes its tensor by const reference, because a temporary view
/// may be written to as well, and returns it without const, as libtorch's signatures do.
inline Variable& mutable_self(const Variable& self) { return const_cast<Variable&>(self); }

}  // namespace ebb::ops
