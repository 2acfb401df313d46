// The Philox state of a dropout on the CPU: the seed comes from the CPU's generator.
#include "ops/common/draw_philox.h"

#include <mutex>

namespace ebb::cpu {

void draw_philox(Philox& out, Device, Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  out = Philox{generator.random64()};
}

}  // namespace ebb::cpu
