// What the bodies of methods pass on as their first argument.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// The tensor whose method runs: Variable is the only class derived from those of ebb/methods.
template <class Methods>
const Variable& self(const Methods* methods) {
  return static_cast<const Variable&>(*methods);
}

}  // namespace ebb::ops
