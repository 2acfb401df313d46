// The kernel slots of softmax.
#include "ops/softmax/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::softmax)> softmax{"softmax", levels_of<cpu::softmax>};
constinit KernelSlot<decltype(cpu::softmax_backward)> softmax_backward{"softmax_backward",
                                                                       levels_of<cpu::softmax_backward>};

}  // namespace ebb::kernels
