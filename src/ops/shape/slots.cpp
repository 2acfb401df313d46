// The kernel slots of the shape family.
#include "ops/shape/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::join)> join{"join", levels_of<cpu::join>};
constinit KernelSlot<decltype(cpu::triangle)> triangle{"triangle", levels_of<cpu::triangle>};

}  // namespace ebb::kernels
