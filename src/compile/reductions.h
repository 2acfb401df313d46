// Reductions of a tape on a device.
#pragma once

#include "compile/tape.h"

namespace ebb::compiling {

/// Those of what elementwise calls make go right behind these calls: the gradient of a bias behind that of an
/// activation, before the products that use it too.
void hasten_reductions(Tape& tape);

}  // namespace ebb::compiling
