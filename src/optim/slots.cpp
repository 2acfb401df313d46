#include "optim/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(const UpdateList&, const SgdStep&)> sgd_step{"SGD", &cpu::sgd_step};
constinit KernelSlot<void(const UpdateList&, const AdamStep&)> adam_step{"Adam", &cpu::adam_step};
constinit KernelSlot<void(const UpdateList&, const RmspropStep&)> rmsprop_step{"RMSprop", &cpu::rmsprop_step};
constinit KernelSlot<void(const UpdateList&, const AdagradStep&)> adagrad_step{"Adagrad", &cpu::adagrad_step};
constinit KernelSlot<void(RuleBytes*, Device, const RuleBytes&)> store_rule{"optimizer step",
                                                                            &cpu::store_rule};

}  // namespace ebb::kernels
