// First and second derivatives of programs against finite differences.
#pragma once

#include "random_programs/draw.h"
#include "random_programs/program.h"

#include <string>

namespace programs {

/// A program of doubles whose statements have derivatives nearly everywhere, and which neither hides parts
/// from the graph nor changes gradients.
Program generate_smooth(Draw& draw);

/// How many derivatives finite differences could decide about.
struct Decided {
  std::int64_t first = 0, second = 0;
};

/// L(t), a weighted sum of the program's results on arguments that move along a line, has the slopes L'(0)
/// and L''(0), which the engine gives as grad() and as grad() of grad(). Both are compared with central
/// differences, within the error that those have by their own steps; where that is large (a kink, a tie)
/// nothing is decided. Returns the disagreement in words; empty where there is none.
std::string wrong_derivative(const Program& program, Decided* decided = nullptr);

}  // namespace programs
