// The kernel slots of foreach.
#include "ops/foreach/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::list_norm)> list_norm{"norm", levels_of<cpu::list_norm>};
constinit KernelSlot<decltype(cpu::list_scale_to_norm)> list_scale_to_norm{
    "clip_grad_norm_", levels_of<cpu::list_scale_to_norm>};
constinit KernelSlot<decltype(cpu::list_clamp)> list_clamp{"clip_grad_value_", levels_of<cpu::list_clamp>};
constinit KernelSlot<decltype(cpu::list_zero)> list_zero{"zero_grad", levels_of<cpu::list_zero>};
constinit KernelSlot<decltype(cpu::list_lerp)> list_lerp{"lerp_", levels_of<cpu::list_lerp>};
constinit KernelSlot<decltype(cpu::list_unscale)> list_unscale{"unscale_", levels_of<cpu::list_unscale>};
constinit KernelSlot<decltype(cpu::update_scale)> update_scale{"update_scale", levels_of<cpu::update_scale>};

}  // namespace ebb::kernels
