// get_rng_state and set_rng_state: states of random number generators as tensors.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

namespace ebb {

/// Returns the complete state of a generator as a CPU tensor (torch.get_rng_state). The generator is the
/// CPU's default generator, a CUDA device's default generator, or `generator`. The shape is kLong [630], or
/// kLong [2] for CUDA. The contents are only meant for set_rng_state and files.
EBB_API Variable get_rng_state(Device device = Device::CPU);
EBB_API Variable get_rng_state(const Generator& generator);

/// Restores a state, so that the generator continues from it (torch.set_rng_state). Throws, and changes
/// nothing, if `state` does not come from get_rng_state.
EBB_API void set_rng_state(const Variable& state, Device device = Device::CPU);
EBB_API void set_rng_state(const Variable& state, Generator generator);

}  // namespace ebb
