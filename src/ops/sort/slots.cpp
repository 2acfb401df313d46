// The kernel slots of the sort family.
#include "ops/sort/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::searchsorted)> searchsorted{"searchsorted", levels_of<cpu::searchsorted>};
constinit KernelSlot<decltype(cpu::sort)> sort{"sort", levels_of<cpu::sort>};
constinit KernelSlot<decltype(cpu::topk)> topk{"topk", levels_of<cpu::topk>};
constinit KernelSlot<decltype(cpu::select_element)> select_element{"select_element",
                                                                   levels_of<cpu::select_element>};
constinit KernelSlot<decltype(cpu::unique)> unique{"unique", levels_of<cpu::unique>};

}  // namespace ebb::kernels
