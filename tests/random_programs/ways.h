// Runs programs in several ways, and compares what can be seen.
#pragma once

#include <string>
#include <vector>

#include "random_programs/program.h"
#include "random_programs/trace.h"

namespace programs {

/// One way to run a program.
struct Way {
  const char* name;
  int threads = 1;
  bool compiled = false;   ///< the body is a compiled function
  bool disturbed = false;  ///< other memory is handed out and returned between statements
  bool counted = false;    ///< a write that no version counts is an error
  bool resumed = false;    ///< from a checkpoint that is saved after the third call
  ebb::Device device = ebb::kCPU;
  std::uint64_t perturbed = 0;  ///< results are perturbed, by chance from this seed; 0: they are not
};

/// Those that give the same bits as the first, which is plain.
const std::vector<Way>& ways();

Trace run(const Program& program, const Way& way);

/// How often programs did what their way is for.
struct Counts {
  std::int64_t replays = 0, resumed = 0;
};

/// The first way in which the program gives something else than plainly, and the difference; empty if none.
std::string disagreement(const Program& program, Counts* counts = nullptr);

}  // namespace programs
