#include "kernel/cuda/generator.h"

#include <array>
#include <mutex>

#include "core/generator_state.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

struct Generators {
  std::mutex mutex;
  std::uint64_t seed = default_generator().current_seed();
  std::array<std::uint64_t, kMaxDevices> calls{};  // by device
};

Generators& generators() {
  static Generators all;
  return all;
}

}  // namespace

Philox next_philox(Device device, Generator& generator) {
  if (&generator.state() != &default_generator().state()) {
    const std::lock_guard lock(generator.mutex());
    return {generator.random64(), 0};
  }
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  // Devices draw apart from each other.
  return {all.seed, static_cast<std::uint64_t>(device.index()) << 56 |
                        all.calls[static_cast<std::size_t>(device.index())]++};
}

void manual_seed(std::uint64_t seed) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  all.calls.fill(0);
}

}  // namespace ebb::cuda
