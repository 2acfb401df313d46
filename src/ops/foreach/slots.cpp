// The kernel slots of foreach.
#include "ops/foreach/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::list_norm)> list_norm{"norm", &cpu::list_norm};
constinit KernelSlot<decltype(cpu::list_scale_to_norm)> list_scale_to_norm{"clip_grad_norm_",
                                                                           &cpu::list_scale_to_norm};
constinit KernelSlot<decltype(cpu::list_clamp)> list_clamp{"clip_grad_value_", &cpu::list_clamp};
constinit KernelSlot<decltype(cpu::list_zero)> list_zero{"zero_grad", &cpu::list_zero};
constinit KernelSlot<decltype(cpu::list_lerp)> list_lerp{"lerp_", &cpu::list_lerp};
constinit KernelSlot<decltype(cpu::list_unscale)> list_unscale{"unscale_", &cpu::list_unscale};
constinit KernelSlot<decltype(cpu::update_scale)> update_scale{"update_scale", &cpu::update_scale};

}  // namespace ebb::kernels
