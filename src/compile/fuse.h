// What runs together of a tape's calls.
#pragma once

#include "compile/tape.h"

namespace ebb::compiling {

/// Gives the tape its steps: elementwise calls that follow one another become programs of rows, a call
/// before them that can be made in parts their source, reductions after them their end, and every other call
/// is a step of its own. Calls may go and change their order. `on_devices`: those of devices become kernels,
/// and additions parts of products, which may differ from the calls in last bits.
void fuse(Tape& tape, bool on_devices);

}  // namespace ebb::compiling
