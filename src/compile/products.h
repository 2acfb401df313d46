// Matrix products of a tape.
#pragma once

#include "compile/tape.h"

namespace ebb::compiling {

/// `sum += a b` by the product, where the tape has a product and an addition of nothing else than it:
/// product() adds in one rounding, as the addition does (ops/linalg/kernels.h). What was set to zero before
/// need not be, nor be read. `on_devices`: those of devices too, whose libraries round once where the product
/// and the addition would twice.
void accumulate_products(Tape& tape, bool on_devices);

}  // namespace ebb::compiling
