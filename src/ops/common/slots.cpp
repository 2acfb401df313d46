// The kernel slots of what families share.
#include "ops/common/draw_philox.h"
#include "ops/common/kernels.h"
#include "ops/common/scan.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::copy)> copy{"copy", &cpu::copy};
constinit KernelSlot<decltype(cpu::fill)> fill{"fill", &cpu::fill};
constinit KernelSlot<decltype(cpu::accumulate)> accumulate{"add", &cpu::accumulate};
constinit KernelSlot<decltype(cpu::scan)> scan{"scan", &cpu::scan};
constinit KernelSlot<decltype(cpu::draw_philox)> draw_philox{"dropout", &cpu::draw_philox};

}  // namespace ebb::kernels
