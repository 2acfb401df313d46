// KeptGenerator: restores a random generator at the end of a scope.
#pragma once

#include <ebb/autograd/rng_state.h>

#include <string>

namespace ebb::watch {

/// Saves the default generator of a device, and restores it at the end of the scope.
struct KeptGenerator {
  explicit KeptGenerator(const std::string& name) : device(name), state(get_rng_state(device)) {}
  ~KeptGenerator() { set_rng_state(state, device); }
  KeptGenerator(const KeptGenerator&) = delete;
  Device device;
  Variable state;
};

}  // namespace ebb::watch
