// Calls of a tape that make single numbers on a device.
#pragma once

#include "compile/tape.h"

namespace ebb::compiling {

/// Calls that read and write nothing but single elements are made first of all if what they read is there,
/// and last if nobody needs what they make: so they do not stand between calls that can run together, as the
/// seed of a gradient stands between a loss and its backward pass.
void move_scalars(Tape& tape);

}  // namespace ebb::compiling
