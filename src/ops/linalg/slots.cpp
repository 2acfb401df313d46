// The kernel slots of linear algebra.
#include "ops/linalg/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::product)> product{"matmul", levels_of<cpu::product>};
constinit KernelSlot<decltype(cpu::dot)> dot{"dot", levels_of<cpu::dot>};
constinit KernelSlot<decltype(cpu::linear_activation)> linear_activation{"linear",
                                                                         levels_of<cpu::linear_activation>};
constinit KernelSlot<decltype(cpu::cdist)> cdist{"cdist", levels_of<cpu::cdist>};
constinit KernelSlot<decltype(cpu::cdist_backward)> cdist_backward{"cdist_backward",
                                                                   levels_of<cpu::cdist_backward>};

}  // namespace ebb::kernels
