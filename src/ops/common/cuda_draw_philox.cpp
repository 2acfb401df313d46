// The Philox state of a dropout on a device.
#include "kernel/cuda/generator.h"
#include "ops/common/draw_philox.h"

namespace ebb::cuda {

void draw_philox(Philox& out, Device device, Generator& generator) { out = next_philox(device, generator); }

}  // namespace ebb::cuda
