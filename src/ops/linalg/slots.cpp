#include "ops/linalg/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ProductArgs&)> product{
    "matmul", &cpu::product};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&)> dot{"dot", &cpu::dot};
constinit KernelSlot<void(NdArray&, const NdArray&)> trace{"trace", &cpu::trace};

}  // namespace ebb::kernels
