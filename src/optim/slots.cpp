// The optimizers' kernel slots.
#include "optim/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::optimizer_step)> optimizer_step{"optimizer step", &cpu::optimizer_step};
constinit KernelSlot<decltype(cpu::store_rule)> store_rule{"optimizer step", &cpu::store_rule};

}  // namespace ebb::kernels
