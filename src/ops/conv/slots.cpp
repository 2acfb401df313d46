// The kernel slots of convolution.
#include "ops/conv/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::conv_forward)> conv_forward{"convolution", levels_of<cpu::conv_forward>};
constinit KernelSlot<decltype(cpu::conv_input)> conv_input{"convolution", levels_of<cpu::conv_input>};
constinit KernelSlot<decltype(cpu::conv_weight)> conv_weight{"convolution", levels_of<cpu::conv_weight>};

}  // namespace ebb::kernels
