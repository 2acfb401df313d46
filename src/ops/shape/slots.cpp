#include "ops/shape/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const NdArray&)> strided_copy{"strided_copy", &cpu::strided_copy};
constinit KernelSlot<void(NdArray&, const std::vector<NdArray>&, std::int64_t)> join{"join", &cpu::join};
constinit KernelSlot<void(NdArray&, const NdArray&)> strided_add{"strided_add", &cpu::strided_add};
constinit KernelSlot<void(NdArray&, const Scalar&)> strided_fill{"strided_fill", &cpu::strided_fill};
constinit KernelSlot<void(NdArray&, const NdArray&, std::int64_t, bool)> triangle{"triangle", &cpu::triangle};

}  // namespace ebb::kernels
