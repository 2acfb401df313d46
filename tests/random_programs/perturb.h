// Changes the results of statements as rounding might.
#pragma once

#include <cstdint>

#include "random_programs/program.h"
#include "random_programs/state.h"

namespace programs {

/// The distance of 1 from the next number of a floating dtype.
double epsilon_of(ebb::DType dtype);

/// While it lives (there is one at a time), results of this thread are perturbed, by chance from the seed;
/// not with seed 0.
class Perturbation {
 public:
  explicit Perturbation(std::uint64_t seed);
  ~Perturbation();
  Perturbation(const Perturbation&) = delete;
  Perturbation& operator=(const Perturbation&) = delete;
};

/// Multiplies every element of the tensor's memory by 1 + e or 1 - e, each sign by chance, of which no graph
/// and no version knows, and by a hook the gradient that reaches it. e is 32 epsilons of float and double,
/// and one of the 16-bit dtypes, whose kernels compute in float and round once. Views, and what is not
/// floating, stay as they are.
void perturb(const Variable& x);
/// All that the statement made or wrote to.
void perturb(const State& state, const Statement& statement);

}  // namespace programs
