#include "ops/linalg/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ProductArgs&)>
    product{"matmul", &cpu::product};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&)> dot{"dot", &cpu::dot};
constinit KernelSlot<void(NdArray&, const NdArray&)> trace{"trace", &cpu::trace};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, double)> cdist{"cdist", &cpu::cdist};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const NdArray&, double)>
    cdist_backward{"cdist_backward", &cpu::cdist_backward};

}  // namespace ebb::kernels
