#include "ops/pool/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, NdArray&, const NdArray&, const PoolGeometry&)> max_pool{"max_pool",
                                                                                             &cpu::max_pool};
constinit KernelSlot<void(NdArray&, const NdArray&, const PoolGeometry&)> mean_pool{"avg_pool",
                                                                                    &cpu::mean_pool};
constinit KernelSlot<void(NdArray&, const NdArray&, const PoolGeometry&)> mean_pool_backward{
    "avg_pool_backward", &cpu::mean_pool_backward};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const PoolGeometry&)> max_pool_backward{
    "max_pool_backward", &cpu::max_pool_backward};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const PoolPlanes&)> pool_gather{
    "pool_gather", &cpu::pool_gather};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const PoolPlanes&, bool)> pool_scatter{
    "pool_scatter", &cpu::pool_scatter};

}  // namespace ebb::kernels
