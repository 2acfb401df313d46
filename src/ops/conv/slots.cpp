#include "ops/conv/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ConvGeometry&,
                          bool)>
    conv_forward{"convolution", &cpu::conv_forward};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ConvGeometry&)>
    conv_input{"convolution", &cpu::conv_input};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const ConvGeometry&)> conv_weight{
    "convolution", &cpu::conv_weight};

}  // namespace ebb::kernels
