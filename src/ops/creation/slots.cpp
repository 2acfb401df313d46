// The kernel slots of the creation family.
#include "ops/creation/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::arange)> arange{"arange", levels_of<cpu::arange>};
constinit KernelSlot<decltype(cpu::linspace)> linspace{"linspace", levels_of<cpu::linspace>};
constinit KernelSlot<decltype(cpu::eye)> eye{"eye", levels_of<cpu::eye>};

}  // namespace ebb::kernels
