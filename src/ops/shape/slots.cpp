// The kernel slots of the shape family.
#include "ops/shape/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::join)> join{"join", &cpu::join};
constinit KernelSlot<decltype(cpu::triangle)> triangle{"triangle", &cpu::triangle};

}  // namespace ebb::kernels
