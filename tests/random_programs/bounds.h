// How far a program's numbers may be from the plain ones where other instructions or another device compute
// them.
#pragma once

#include "random_programs/draw.h"
#include "random_programs/program.h"
#include "random_programs/ways.h"

#include <cstdint>

// Changes the results of statements as rounding might.

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

// How far a program's numbers may be from the plain ones where other instructions or another device compute
// them.

/// Runs a program plainly, and six times with its results perturbed by some roundings (perturb() above). A
/// tensor may differ from the plain one by as much as the perturbed ones do, by the largest of their
/// elements, or by two epsilons of its own largest element. Integers, NaNs and infinities must be the same,
/// and so must errors and geometry; nothing is said of a tensor about which perturbed runs disagree in those.
/// A NaN may stand for an infinity.
class Bounds {
 public:
  explicit Bounds(const Program& program);
  /// Whether the perturbed runs saw the same tensors after the same calls; else nothing can be said.
  bool decided() const { return decided_; }
  /// The first place outside of the bounds, in words; empty where there is none.
  std::string violation(const Trace& got) const;

 private:
  bool same_text_always(std::size_t i) const;
  bool within(std::size_t i, const ebb::Variable& got) const;

  Trace expected_;
  std::vector<Trace> perturbed_;
  bool decided_ = true;
};

// Programs that run on a device too.

/// A program of statements that compute the same on a CUDA device as on the CPU.
Program generate_for_device(Draw& draw);

/// The first place where the program, eager or compiled, gives there what is outside the bounds of its plain
/// run on the CPU; empty where there is none. `decided` is increased where the bounds say anything.
std::string wrong_on_device(const Program& program, std::int64_t* decided = nullptr);

}  // namespace programs
