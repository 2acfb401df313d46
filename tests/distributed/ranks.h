// Programs under mpirun: the cases of this program that several processes run together.
#pragma once

#include <ebb/distributed.h>

#include <functional>
#include <string>

namespace ranks {

/// The output and the exit status of a command; 128 + n if signal n ended it.
struct Outcome {
  int status = 0;
  std::string output;
};

/// Returns the message of the ebb::Error that `body` throws, or "no error".
std::string error_of(const std::function<void()>& body);
/// Runs a shell command.
Outcome shell(const std::string& command);
/// Runs the hidden cases with this tag in `count` processes of this program under mpirun. `variables` are
/// settings for the shell, such as "A=1 B=2".
Outcome run(int count, const std::string& tag, const std::string& variables = "");
/// Returns whether mpirun and the plugin of MPI are there. Otherwise warns that the case is skipped.
bool can_run();

/// Calls init("mpi") at the first call, in a process that mpirun started.
void join(const ebb::distributed::InitOptions& options =
              ebb::distributed::InitOptions("mpi").timeout(std::chrono::seconds(60)));

}  // namespace ranks
