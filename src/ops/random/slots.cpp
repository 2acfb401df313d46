// The kernel slots of the random family.
#include "ops/random/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::sample)> sample{"sample", &cpu::sample};
constinit KernelSlot<decltype(cpu::random_integers)> random_integers{"random_", &cpu::random_integers};
constinit KernelSlot<decltype(cpu::random_any)> random_any{"random_", &cpu::random_any};
constinit KernelSlot<decltype(cpu::bernoulli)> bernoulli{"bernoulli", &cpu::bernoulli};
constinit KernelSlot<decltype(cpu::permutation)> permutation{"randperm", &cpu::permutation};
constinit KernelSlot<decltype(cpu::multinomial)> multinomial{"multinomial", &cpu::multinomial};
constinit KernelSlot<decltype(cpu::poisson)> poisson{"poisson", &cpu::poisson};
constinit KernelSlot<decltype(cpu::binomial)> binomial{"binomial", &cpu::binomial};
constinit KernelSlot<decltype(cpu::dropout)> dropout{"dropout", &cpu::dropout};

}  // namespace ebb::kernels
