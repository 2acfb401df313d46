// The kernel slots of linear algebra.
#include "ops/linalg/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::product)> product{"matmul", &cpu::product};
constinit KernelSlot<decltype(cpu::dot)> dot{"dot", &cpu::dot};
constinit KernelSlot<decltype(cpu::linear_activation)> linear_activation{"linear", &cpu::linear_activation};
constinit KernelSlot<decltype(cpu::cdist)> cdist{"cdist", &cpu::cdist};
constinit KernelSlot<decltype(cpu::cdist_backward)> cdist_backward{"cdist_backward", &cpu::cdist_backward};

}  // namespace ebb::kernels
