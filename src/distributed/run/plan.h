// Plan: how `ebb run` starts a program.
#pragma once

#include <string>
#include <vector>

namespace ebb::distributed::run {

struct Host {
  std::string name;  // empty: this machine
  int ranks = 0;
};

struct Plan {
  std::string backend = "mpi";
  std::vector<Host> hosts;
  int ranks = 0;  // of all hosts
  int restarts = 0;
  bool labels = true, binds = true;
  std::vector<std::string> program;  // with its arguments
};

/// Starts all ranks and waits for their end. If a rank fails, ends the others. Returns the exit status of the
/// rank that failed first, or 128 + n if signal n ended it. Sets `interrupted` if this program received a
/// signal that ends it. Throws ebb::Error if the ranks cannot be started.
int launch(const Plan& plan, bool& interrupted);

/// The process around one rank: starts the program, labels its lines, tells why it ended, and ends it if the
/// launcher ends. With `has_settings` the input has lines NAME=VALUE for the environment, an empty line, and
/// its end when the launcher ends. Returns the exit status.
int run_agent(const Plan& plan, bool has_settings);

/// Returns the exit status that a shell reports.
int exit_status(int wait_status);

}  // namespace ebb::distributed::run
