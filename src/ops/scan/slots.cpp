// The kernel slots of the scans.
#include "ops/scan/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::linear_recurrence)> linear_recurrence{"linear_recurrence",
                                                                         levels_of<cpu::linear_recurrence>};
constinit KernelSlot<decltype(cpu::running_extreme)> running_extreme{"cummax",
                                                                     levels_of<cpu::running_extreme>};

}  // namespace ebb::kernels
