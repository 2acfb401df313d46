// What runs together of a tape's calls.
#pragma once

#include "compile/tape.h"
#include "compile/touches.h"

namespace ebb::compiling {

/// `sum += a b` by the product, where the tape has a product and an addition of nothing else than it:
/// product() adds in one rounding, as the addition does (ops/linalg/kernels.h).
void accumulate_products(Tape& tape, const Touches& touches);

/// Gives the tape its steps: elementwise calls that follow one another become programs of rows, and every
/// other call is a step of its own.
void fuse(Tape& tape);

}  // namespace ebb::compiling
