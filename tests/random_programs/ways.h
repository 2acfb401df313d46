// Runs programs in several ways, and compares what can be seen.
#pragma once

#include <string>
#include <vector>

#include "random_programs/program.h"
#include "random_programs/state.h"

namespace programs {

/// One way to run a program.
struct Way {
  const char* name;
  int threads = 1;
  bool compiled = false;   ///< the body is a compiled function
  bool disturbed = false;  ///< other memory is handed out and returned between statements
};

/// Those that give the same bits as the first, which is plain.
const std::vector<Way>& ways();

/// What can be seen after a call: tensors by name, and texts.
struct Seen {
  std::string label;
  Variable value;
  std::string text;
};
struct Trace {
  std::vector<Seen> seen;
  std::int64_t replays = 0;
};

Trace run(const Program& program, const Way& way);

/// The first place where two traces differ, in words; empty where they agree in every bit.
std::string difference(const Trace& expected, const Trace& got);

/// The first way in which the program gives something else than plainly, and the difference; empty if none.
std::string disagreement(const Program& program, std::int64_t* replays = nullptr);

/// A number that stands for all that was seen.
std::uint64_t digest(const Trace& trace);

}  // namespace programs
