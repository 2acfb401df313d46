// The kernel slots of attention.
#include "ops/attention/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::attention)> attention{"scaled_dot_product_attention",
                                                         levels_of<cpu::attention>};
constinit KernelSlot<decltype(cpu::attention_backward)> attention_backward{
    "scaled_dot_product_attention", levels_of<cpu::attention_backward>};
constinit KernelSlot<decltype(cpu::attention_mask_backward)> attention_mask_backward{
    "scaled_dot_product_attention", levels_of<cpu::attention_mask_backward>};
constinit KernelSlot<decltype(cpu::attention_dropout)> attention_dropout{"scaled_dot_product_attention",
                                                                         levels_of<cpu::attention_dropout>};

}  // namespace ebb::kernels
