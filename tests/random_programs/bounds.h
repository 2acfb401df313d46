// How far a program's numbers may be from the plain ones where other instructions or another device compute
// them.
#pragma once

#include "random_programs/ways.h"

namespace programs {

/// Runs a program plainly, and six times with its results perturbed by some roundings (perturb.h). A tensor
/// may differ from the plain one by as much as the perturbed ones do, by the largest of their elements, or by
/// two epsilons of its own largest element. Integers, NaNs and infinities must be the same, and so must
/// errors and geometry; nothing is said of a tensor about which perturbed runs disagree in those. A NaN may
/// stand for an infinity.
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

}  // namespace programs
