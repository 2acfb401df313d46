// States of random number generators as tensors.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

namespace ebb {

/// All that decides what a generator draws next, as a tensor on the CPU (torch.get_rng_state): of the CPU's
/// default generator, of that of a CUDA device, or of one's own. kLong [630] and, of CUDA, kLong [2]; for
/// set_rng_state and files only.
EBB_API Variable get_rng_state(Device device = Device::CPU);
EBB_API Variable get_rng_state(const Generator& generator);

/// Lets the generator go on from there (torch.set_rng_state). Throws, and changes nothing, for what
/// get_rng_state did not give.
EBB_API void set_rng_state(const Variable& state, Device device = Device::CPU);
EBB_API void set_rng_state(const Variable& state, Generator generator);

}  // namespace ebb
