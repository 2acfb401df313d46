// Bounds on the difference between the results of a plain run and of a run with other instructions or on
// another device.
#pragma once

#include "random_programs/program.h"
#include "random_programs/ways.h"

#include <cstdint>

// Changes the results of statements by about a rounding error.

namespace programs {

class Draw;

/// The distance from 1 to the next value of a floating dtype.
double epsilon_of(ebb::DType dtype);

/// While this object exists (at most one at a time), results in this thread are perturbed randomly from the
/// seed. Seed 0 means no perturbation. If `slightly`, they are sixteen times smaller.
class Perturbation {
 public:
  explicit Perturbation(std::uint64_t seed, bool slightly = false);
  ~Perturbation();
  Perturbation(const Perturbation&) = delete;
  Perturbation& operator=(const Perturbation&) = delete;
};

/// Multiplies each element in the memory of the tensor by 1 + e or 1 - e with a random sign, without a graph
/// node or a version bump, and perturbs the gradient in the same way with a hook. e is 32 epsilons for float
/// and double, and one epsilon for the 16-bit dtypes, whose kernels compute in float and round once. A slight
/// perturbation has 2 and none. Views and tensors that are not floating stay unchanged.
void perturb(const Variable& x);
/// Perturbs all tensors that the statement created or wrote.
void perturb(const State& state, const Statement& statement);

// Bounds on the difference between the results of a plain run and of a run with other instructions or on
// another device.

/// Runs a program once plainly, and six times with perturbed results (perturb() above). A tensor may differ
/// from the plain one by the largest difference of the perturbed runs, or by two epsilons of its own largest
/// element. Integers, NaNs, infinities, errors and geometry must be equal; a tensor for which the perturbed
/// runs disagree in these is not checked. A NaN may replace an infinity. Two more runs with smaller
/// perturbations detect chaos: their differences must be smaller too, if they are not small.
class Bounds {
 public:
  explicit Bounds(const Program& program);
  /// Whether all perturbed runs recorded the same tensors after the same calls; otherwise nothing can be
  /// decided.
  bool decided() const { return decided_; }
  /// Describes the first value outside the bounds; empty if there is none.
  std::string violation(const Trace& got) const;

 private:
  bool same_text_always(std::size_t i) const;
  bool within(std::size_t i, const ebb::Variable& got) const;

  Trace expected_;
  std::vector<Trace> perturbed_, slightly_perturbed_;
  bool decided_ = true;
};

// Programs that also run on a device.

/// Generates a program whose statements compute the same on a CUDA device as on the CPU.
Program generate_for_device(Draw& draw);

/// Describes the first value outside the bounds of the plain CPU run when the program runs on the device,
/// eagerly or compiled; empty if there is none. Increments `decided` if the bounds apply.
std::string wrong_on_device(const Program& program, std::int64_t* decided = nullptr);

}  // namespace programs
