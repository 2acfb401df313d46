// What the CUDA plugin asks of the family.
#pragma once

#include "ops/random/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::sample) sample;
decltype(ebb::cpu::random_integers) random_integers;
decltype(ebb::cpu::random_any) random_any;
decltype(ebb::cpu::bernoulli) bernoulli;
decltype(ebb::cpu::permutation) permutation;
decltype(ebb::cpu::multinomial) multinomial;
decltype(ebb::cpu::poisson) poisson;
decltype(ebb::cpu::binomial) binomial;
decltype(ebb::cpu::dropout) dropout;
/// Fills the family's kernel slots.
void register_random();

}  // namespace ebb::cuda
