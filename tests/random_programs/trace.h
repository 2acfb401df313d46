// All that can be seen of a running program, compared bit by bit, also of a process with other instructions.
#pragma once

#include <ebb/autograd/variable.h>

#include "random_programs/program.h"

#include <sys/types.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace programs {

/// A tensor by its name after a call, or a text.
struct Seen {
  std::string label;
  ebb::Variable value;
  std::string text;
};
struct Trace {
  std::vector<Seen> seen;
  std::int64_t replays = 0;
  bool resumed = false;
};

/// The first place where two traces differ, in words; empty where they agree in every bit.
std::string difference(const Trace& expected, const Trace& got);

/// Both values, or both texts, in words.
std::string both(const Seen& expected, const Seen& got);

/// A number that stands for all that was seen.
std::uint64_t digest(const Trace& trace);

/// Labels, texts and elements, for another process on the same machine.
void write(std::ostream& file, const Trace& trace);
/// The reverse; throws ebb::Error where the file ends before.
Trace read_trace(std::istream& file);

// Runs programs in another process, whose library has chosen other instructions.

/// This executable once more, with EBB_ISA set, perhaps in deterministic mode, waiting for programs
/// (`serve`).
class OtherProcess {
 public:
  OtherProcess(const std::string& isa, bool deterministic);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  /// The trace of the plain run there. Throws ebb::Error where the process ends instead.
  Trace run(const Program& program);

 private:
  int to_ = -1, from_ = -1;
  pid_t child_ = -1;
};

/// Runs programs from the standard input, each a text that begins with its length in a line, and writes
/// traces to the standard output; until the input ends.
void serve();

}  // namespace programs
