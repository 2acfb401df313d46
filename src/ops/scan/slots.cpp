// The kernel slots of the scans.
#include "ops/scan/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::linear_recurrence)> linear_recurrence{"linear_recurrence",
                                                                         &cpu::linear_recurrence};
constinit KernelSlot<decltype(cpu::running_extreme)> running_extreme{"cummax", &cpu::running_extreme};

}  // namespace ebb::kernels
