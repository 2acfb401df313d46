// The states of the default generators of all devices, for code that draws the same random numbers again.
#pragma once

#include <ebb/core/random.h>

#include "core/capture.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ebb::autograd {

class RandomStates {
 public:
  /// Copies the current states. A compiled function that only copies them can be replayed.
  RandomStates();

  /// Whether all generators are in the copied states, so that nothing has been drawn since.
  bool are_current() const;
  /// Sets the generators to the copied states. Throws if they were copied outside of the CUDA graph that the
  /// thread captures, or within a graph that it does not capture any more.
  void set() const;

 private:
  using DeviceState = std::array<std::uint64_t, 2>;  // see Backend::generator_state

  static Generator copy_of_cpu();
  DeviceState device(std::size_t i) const;

  Generator cpu_ = copy_of_cpu();
  std::vector<DeviceState> devices_;  // empty if no device had been used
  const detail::Capture* capture_ = detail::current_capture();
};

}  // namespace ebb::autograd
