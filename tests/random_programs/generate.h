// Draws programs.
#pragma once

#include <functional>

#include "random_programs/draw.h"
#include "random_programs/program.h"

namespace programs {

struct Limits {
  int least = 5, most = 40;  ///< statements of the body
  int calls = 8;
  bool large = true;  ///< one in ten has tensors of several blocks, one in fifty such that threads share
  bool returns_all = false;  ///< every tensor that the body makes is a result, not a few of them
  /// Refuses a statement (false), or changes its numbers before it runs; none takes all as they are drawn.
  std::function<bool(Statement&)> adapt = nullptr;
};

/// A program whose statements fit together: each was run on what those before it gave. Statements that throw
/// are left out, but for a few that end the body.
Program generate(Draw& draw, const Limits& limits = {});

}  // namespace programs
