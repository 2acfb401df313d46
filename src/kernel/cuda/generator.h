// The random generators of the devices.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"

namespace ebb::cuda {

/// Returns the Philox state for one kernel. The CPU's default generator selects the device's own generator,
/// which manual_seed seeds too. Any other generator provides the seed by a draw.
Philox next_philox(Device device, Generator& generator);

}  // namespace ebb::cuda
