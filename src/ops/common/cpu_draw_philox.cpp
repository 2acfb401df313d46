// The words of a draw on the CPU: a seed from its generator.
#include "ops/common/draw_philox.h"

#include <mutex>

namespace ebb::cpu {

void draw_philox(Philox& out, Device, Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  out = Philox{generator.random64()};
}

}  // namespace ebb::cpu
