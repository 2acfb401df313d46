// First and second derivatives of programs, compared with finite differences.
#pragma once

#include "random_programs/program.h"

#include <string>

namespace programs {

class Draw;

/// Generates a program of double tensors whose statements are differentiable almost everywhere, and that
/// neither detaches parts of the graph nor changes gradients.
Program generate_smooth(Draw& draw);

/// The number of derivatives that finite differences could check.
struct Decided {
  std::int64_t first = 0, second = 0;
};

/// L(t) is a weighted sum of the results for arguments that move along a line. The engine computes L'(0) with
/// grad() and L''(0) with grad() of grad(). Both are compared with central differences, within the error
/// estimate of those. If the estimate is large (a kink or a tie), nothing is decided. Returns a description
/// of the disagreement; empty if there is none.
std::string wrong_derivative(const Program& program, Decided* decided = nullptr);

}  // namespace programs
