#include "ops/foreach/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const EntryList&, double)> list_norm{"norm", &cpu::list_norm};
constinit KernelSlot<void(const EntryList&, const NdArray&, double)> list_scale_to_norm{
    "clip_grad_norm_", &cpu::list_scale_to_norm};
constinit KernelSlot<void(const EntryList&, double, double)> list_clamp{"clip_grad_value_", &cpu::list_clamp};
constinit KernelSlot<void(const EntryList&)> list_zero{"zero_grad", &cpu::list_zero};

}  // namespace ebb::kernels
