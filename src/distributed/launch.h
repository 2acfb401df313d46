// Launch: what the launcher states about this process.
#pragma once

#include <string>

namespace ebb::distributed {

/// The place of this process among those that a launcher started.
struct Launch {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_size = 1;
  std::string master_address;  // empty: not stated
  int master_port = 0;         // 0: not stated
  std::string launcher;        // "torchrun", "Open MPI", "PMI" or "Slurm"; empty without a launcher
};

/// Reads the variables of torchrun (and of `ebb run`), Open MPI, PMI and Slurm; the first that is there
/// counts. Throws ebb::Error for values that are no numbers or do not fit together.
Launch read_launch();

}  // namespace ebb::distributed
