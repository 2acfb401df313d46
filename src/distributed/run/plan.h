// Plan: how `ebb run` starts a program.
#pragma once

#include <string>
#include <vector>

namespace ebb::distributed::run {

using Words = std::vector<std::string>;

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
  Words program;  // with its arguments
  Words words;    // all arguments of `ebb run`
};

class Job;

/// Starts all ranks in the job, and waits for their end. If a rank fails, ends the others. Returns the exit
/// status of the rank that failed first, or 128 + n if signal n ended it. Throws ebb::Error if the ranks
/// cannot be started.
int launch(const Plan& plan, Job& job);

/// The process around the ranks of one host, or around one rank of MPI: starts them, labels their lines, says
/// why one ended, and ends all if one fails or if the launcher ends. For NCCL, the input has lines NAME=VALUE
/// for the environment, an empty line, and its end when the launcher ends. Returns the exit status.
int run_agent(const Plan& plan, const std::string& host);

}  // namespace ebb::distributed::run
