// The kernel slots of the reductions.
#include "ops/reduce/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::sum)> sum{"sum", &cpu::sum};
constinit KernelSlot<decltype(cpu::nansum)> nansum{"nansum", &cpu::nansum};
constinit KernelSlot<decltype(cpu::prod)> prod{"prod", &cpu::prod};
constinit KernelSlot<decltype(cpu::amax)> amax{"amax", &cpu::amax};
constinit KernelSlot<decltype(cpu::amin)> amin{"amin", &cpu::amin};
constinit KernelSlot<decltype(cpu::any)> any{"any", &cpu::any};
constinit KernelSlot<decltype(cpu::all)> all{"all", &cpu::all};
constinit KernelSlot<decltype(cpu::count_nonzero)> count_nonzero{"count_nonzero", &cpu::count_nonzero};
constinit KernelSlot<decltype(cpu::xor_bits)> xor_bits{"hash_tensor", &cpu::xor_bits};
constinit KernelSlot<decltype(cpu::norm)> norm{"norm", &cpu::norm};
constinit KernelSlot<decltype(cpu::variance)> variance{"var", &cpu::variance};
constinit KernelSlot<decltype(cpu::extreme_index)> extreme_index{"max", &cpu::extreme_index};

}  // namespace ebb::kernels
