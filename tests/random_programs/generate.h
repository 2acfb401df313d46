// Draws programs.
#pragma once

#include "random_programs/draw.h"
#include "random_programs/program.h"

namespace programs {

struct Limits {
  int least = 5, most = 40;  ///< statements of the body
  int calls = 6;
  /// Only statements that can be said in Python.
  bool for_torch = false;
};

/// A program whose statements fit together: each was run on what those before it gave. Statements that throw
/// are left out, but for a few that end the body.
Program generate(Draw& draw, const Limits& limits = {});

}  // namespace programs
