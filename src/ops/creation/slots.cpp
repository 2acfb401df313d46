// The kernel slots of the creation family.
#include "ops/creation/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::arange)> arange{"arange", &cpu::arange};
constinit KernelSlot<decltype(cpu::linspace)> linspace{"linspace", &cpu::linspace};
constinit KernelSlot<decltype(cpu::eye)> eye{"eye", &cpu::eye};

}  // namespace ebb::kernels
