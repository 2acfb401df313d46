#include "ops/norm/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, BatchStatistics&, const NdArray&, const NdArray&, const NdArray&,
                          const NormShape&, double)>
    batch_norm_train{"batch_norm", &cpu::batch_norm_train};
constinit KernelSlot<void(NdArray&, const NormSaved&, const NdArray&, const NormShape&)> batch_norm_apply{
    "batch_norm", &cpu::batch_norm_apply};
constinit KernelSlot<void(NormGrads&, const NdArray&, const NormSaved&, const NormShape&, bool)>
    batch_norm_backward{"batch_norm_backward", &cpu::batch_norm_backward};
constinit KernelSlot<void(NdArray&, NdArray&, NdArray&, const NdArray&, const NdArray&, const NdArray&,
                          const NormShape&, double)>
    group_norm{"group_norm", &cpu::group_norm};
constinit KernelSlot<void(NormGrads&, const NdArray&, const NormSaved&, const NormShape&)>
    group_norm_backward{"group_norm_backward", &cpu::group_norm_backward};
constinit KernelSlot<void(NdArray&, NdArray&, NdArray&, const NdArray&, const NdArray&, const NdArray&,
                          const NormShape&, double)>
    layer_norm{"layer_norm", &cpu::layer_norm};
constinit KernelSlot<void(NormGrads&, const NdArray&, const NormSaved&, const NormShape&)>
    layer_norm_backward{"layer_norm_backward", &cpu::layer_norm_backward};

}  // namespace ebb::kernels
