// The kernel slots of the reductions.
#include "ops/reduce/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::sum)> sum{"sum", levels_of<cpu::sum>};
constinit KernelSlot<decltype(cpu::nansum)> nansum{"nansum", levels_of<cpu::nansum>};
constinit KernelSlot<decltype(cpu::prod)> prod{"prod", levels_of<cpu::prod>};
constinit KernelSlot<decltype(cpu::amax)> amax{"amax", levels_of<cpu::amax>};
constinit KernelSlot<decltype(cpu::amin)> amin{"amin", levels_of<cpu::amin>};
constinit KernelSlot<decltype(cpu::any)> any{"any", levels_of<cpu::any>};
constinit KernelSlot<decltype(cpu::all)> all{"all", levels_of<cpu::all>};
constinit KernelSlot<decltype(cpu::count_nonzero)> count_nonzero{"count_nonzero",
                                                                 levels_of<cpu::count_nonzero>};
constinit KernelSlot<decltype(cpu::xor_bits)> xor_bits{"hash_tensor", levels_of<cpu::xor_bits>};
constinit KernelSlot<decltype(cpu::norm)> norm{"norm", levels_of<cpu::norm>};
constinit KernelSlot<decltype(cpu::variance)> variance{"var", levels_of<cpu::variance>};
constinit KernelSlot<decltype(cpu::extreme_index)> extreme_index{"max", levels_of<cpu::extreme_index>};

}  // namespace ebb::kernels
