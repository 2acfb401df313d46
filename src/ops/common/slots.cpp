// The kernel slots of what families share.
#include "kernel/levels.h"
#include "ops/common/draw_philox.h"
#include "ops/common/kernels.h"
#include "ops/common/scan.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::copy)> copy{"copy", levels_of<cpu::copy>};
constinit KernelSlot<decltype(cpu::fill)> fill{"fill", levels_of<cpu::fill>};
constinit KernelSlot<decltype(cpu::accumulate)> accumulate{"add", levels_of<cpu::accumulate>};
constinit KernelSlot<decltype(cpu::scan)> scan{"scan", levels_of<cpu::scan>};
constinit KernelSlot<decltype(cpu::draw_philox)> draw_philox{"dropout", levels_of<cpu::draw_philox>};

}  // namespace ebb::kernels
