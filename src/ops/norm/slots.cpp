// The kernel slots of the normalisations.
#include "ops/norm/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::batch_norm_train)> batch_norm_train{"batch_norm",
                                                                       levels_of<cpu::batch_norm_train>};
constinit KernelSlot<decltype(cpu::batch_norm_apply)> batch_norm_apply{"batch_norm",
                                                                       levels_of<cpu::batch_norm_apply>};
constinit KernelSlot<decltype(cpu::batch_norm_backward)> batch_norm_backward{
    "batch_norm_backward", levels_of<cpu::batch_norm_backward>};
constinit KernelSlot<decltype(cpu::group_norm)> group_norm{"group_norm", levels_of<cpu::group_norm>};
constinit KernelSlot<decltype(cpu::group_norm_backward)> group_norm_backward{
    "group_norm_backward", levels_of<cpu::group_norm_backward>};
constinit KernelSlot<decltype(cpu::layer_norm)> layer_norm{"layer_norm", levels_of<cpu::layer_norm>};
constinit KernelSlot<decltype(cpu::layer_norm_backward)> layer_norm_backward{
    "layer_norm_backward", levels_of<cpu::layer_norm_backward>};

}  // namespace ebb::kernels
