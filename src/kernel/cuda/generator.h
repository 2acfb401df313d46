// The generators of the devices.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"

namespace ebb::cuda {

/// The stream of random words for one kernel. The CPU's default generator stands for the device's own, which
/// manual_seed seeds too; any other gives the seed by a draw of its own.
Philox next_philox(Device device, Generator& generator);

}  // namespace ebb::cuda
