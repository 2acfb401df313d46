// The kernel slots of the random family.
#include "ops/random/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::sample)> sample{"sample", levels_of<cpu::sample>};
constinit KernelSlot<decltype(cpu::random_integers)> random_integers{"random_",
                                                                     levels_of<cpu::random_integers>};
constinit KernelSlot<decltype(cpu::random_any)> random_any{"random_", levels_of<cpu::random_any>};
constinit KernelSlot<decltype(cpu::bernoulli)> bernoulli{"bernoulli", levels_of<cpu::bernoulli>};
constinit KernelSlot<decltype(cpu::permutation)> permutation{"randperm", levels_of<cpu::permutation>};
constinit KernelSlot<decltype(cpu::multinomial)> multinomial{"multinomial", levels_of<cpu::multinomial>};
constinit KernelSlot<decltype(cpu::poisson)> poisson{"poisson", levels_of<cpu::poisson>};
constinit KernelSlot<decltype(cpu::binomial)> binomial{"binomial", levels_of<cpu::binomial>};
constinit KernelSlot<decltype(cpu::dropout)> dropout{"dropout", levels_of<cpu::dropout>};

}  // namespace ebb::kernels
