// The kernel slots of pooling.
#include "ops/pool/kernels.h"

#include "kernel/levels.h"
#include "ops/pool/fractional.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::max_pool)> max_pool{"max_pool", levels_of<cpu::max_pool>};
constinit KernelSlot<decltype(cpu::mean_pool)> mean_pool{"avg_pool", levels_of<cpu::mean_pool>};
constinit KernelSlot<decltype(cpu::mean_pool_backward)> mean_pool_backward{
    "avg_pool_backward", levels_of<cpu::mean_pool_backward>};
constinit KernelSlot<decltype(cpu::max_pool_backward)> max_pool_backward{"max_pool_backward",
                                                                         levels_of<cpu::max_pool_backward>};
constinit KernelSlot<decltype(cpu::pool_gather)> pool_gather{"pool_gather", levels_of<cpu::pool_gather>};
constinit KernelSlot<decltype(cpu::pool_scatter)> pool_scatter{"pool_scatter", levels_of<cpu::pool_scatter>};
constinit KernelSlot<decltype(cpu::fractional_max_indices)> fractional_max_indices{
    "fractional_max_pool", levels_of<cpu::fractional_max_indices>};

}  // namespace ebb::kernels
