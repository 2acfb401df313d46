// The kernel slots of the index family.
#include "ops/index/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::index_offsets)> index_offsets{"index_offsets",
                                                                 levels_of<cpu::index_offsets>};
constinit KernelSlot<decltype(cpu::take_rows)> take_rows{"take_rows", levels_of<cpu::take_rows>};
constinit KernelSlot<decltype(cpu::put_rows)> put_rows{"put_rows", levels_of<cpu::put_rows>};
constinit KernelSlot<decltype(cpu::gather)> gather{"gather", levels_of<cpu::gather>};
constinit KernelSlot<decltype(cpu::scatter)> scatter{"scatter", levels_of<cpu::scatter>};
constinit KernelSlot<decltype(cpu::masked_fill)> masked_fill{"masked_fill", levels_of<cpu::masked_fill>};
constinit KernelSlot<decltype(cpu::nonzero)> nonzero{"nonzero", levels_of<cpu::nonzero>};

}  // namespace ebb::kernels
