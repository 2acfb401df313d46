// The kernel slots of the sort family.
#include "ops/sort/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::searchsorted)> searchsorted{"searchsorted", &cpu::searchsorted};
constinit KernelSlot<decltype(cpu::sort)> sort{"sort", &cpu::sort};
constinit KernelSlot<decltype(cpu::topk)> topk{"topk", &cpu::topk};
constinit KernelSlot<decltype(cpu::select_element)> select_element{"select_element", &cpu::select_element};
constinit KernelSlot<decltype(cpu::unique)> unique{"unique", &cpu::unique};

}  // namespace ebb::kernels
