#include "optim/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, const NdArray&, NdArray&, const SgdStep&)> sgd_step{"SGD",
                                                                                        &cpu::sgd_step};
constinit KernelSlot<void(NdArray&, const NdArray&, NdArray&, NdArray&, NdArray&, const AdamStep&)> adam_step{
    "Adam", &cpu::adam_step};
constinit KernelSlot<void(NdArray&, const NdArray&, NdArray&, NdArray&, NdArray&, const RmspropStep&)>
    rmsprop_step{"RMSprop", &cpu::rmsprop_step};
constinit KernelSlot<void(NdArray&, const NdArray&, NdArray&, const AdagradStep&)> adagrad_step{
    "Adagrad", &cpu::adagrad_step};

}  // namespace ebb::kernels
