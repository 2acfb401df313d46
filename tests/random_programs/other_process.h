// Runs programs in another process, whose library has chosen other instructions.
#pragma once

#include <sys/types.h>

#include <string>

#include "random_programs/program.h"
#include "random_programs/trace.h"

namespace programs {

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
