// The kernel slots of softmax.
#include "ops/softmax/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::softmax)> softmax{"softmax", &cpu::softmax};
constinit KernelSlot<decltype(cpu::softmax_backward)> softmax_backward{"softmax_backward",
                                                                       &cpu::softmax_backward};

}  // namespace ebb::kernels
