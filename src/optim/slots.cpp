// The optimizers' kernel slots.
#include "optim/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::optimizer_step)> optimizer_step{"optimizer step",
                                                                   levels_of<cpu::optimizer_step>};
constinit KernelSlot<decltype(cpu::store_rule)> store_rule{"optimizer step", levels_of<cpu::store_rule>};

}  // namespace ebb::kernels
