// The kernel slots of the index family.
#include "ops/index/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::index_offsets)> index_offsets{"index_offsets", &cpu::index_offsets};
constinit KernelSlot<decltype(cpu::take_rows)> take_rows{"take_rows", &cpu::take_rows};
constinit KernelSlot<decltype(cpu::put_rows)> put_rows{"put_rows", &cpu::put_rows};
constinit KernelSlot<decltype(cpu::gather)> gather{"gather", &cpu::gather};
constinit KernelSlot<decltype(cpu::scatter)> scatter{"scatter", &cpu::scatter};
constinit KernelSlot<decltype(cpu::masked_fill)> masked_fill{"masked_fill", &cpu::masked_fill};
constinit KernelSlot<decltype(cpu::nonzero)> nonzero{"nonzero", &cpu::nonzero};

}  // namespace ebb::kernels
