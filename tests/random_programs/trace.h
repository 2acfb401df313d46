// The visible state of a running program, compared bit by bit, also with a process that uses other
// instructions.
#pragma once

#include <ebb/autograd/variable.h>

#include "random_programs/program.h"

#include <sys/types.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace programs {

/// A tensor identified by its name after a call, or a text.
struct TraceEntry {
  std::string label;
  ebb::Variable value;
  std::string text;
};
struct Trace {
  std::vector<TraceEntry> entries;
  std::int64_t replays = 0;
  bool resumed = false;
};

/// Describes the first difference of two traces; empty if they are bitwise equal.
std::string difference(const Trace& expected, const Trace& got);

/// Describes both values, or both texts.
std::string both(const TraceEntry& expected, const TraceEntry& got);

/// A hash of the trace.
std::uint64_t digest(const Trace& trace);

/// Writes labels, texts and elements for another process on the same machine.
void write(std::ostream& file, const Trace& trace);
/// Reads the output of write(); throws ebb::Error if the file ends early.
Trace read_trace(std::istream& file);

// Runs programs in another process whose library has selected other instructions.

/// A second process of this executable with EBB_ISA set, optionally in deterministic mode, that waits for
/// programs (`serve`).
class OtherProcess {
 public:
  OtherProcess(const std::string& isa, bool deterministic);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  /// Returns the trace of a plain run in the other process. Throws ebb::Error if that process ends.
  Trace run(const Program& program);

 private:
  int to_ = -1, from_ = -1;
  pid_t child_ = -1;
};

/// Reads programs from the standard input, each as its length in a line and its text, runs them, and writes
/// traces to the standard output until the input ends.
void serve();

}  // namespace programs
