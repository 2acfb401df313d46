// The kernel slots of convolution.
#include "ops/conv/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::conv_forward)> conv_forward{"convolution", &cpu::conv_forward};
constinit KernelSlot<decltype(cpu::conv_input)> conv_input{"convolution", &cpu::conv_input};
constinit KernelSlot<decltype(cpu::conv_weight)> conv_weight{"convolution", &cpu::conv_weight};

}  // namespace ebb::kernels
