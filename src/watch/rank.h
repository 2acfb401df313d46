// The rank of this process among those that a launcher started.
#pragma once

namespace ebb::watch {

/// Returns whether this process writes files and draws: it is rank 0, or no launcher started it. Reads the
/// variables of torchrun, Open MPI, PMI and Slurm once.
bool writes_output();

}  // namespace ebb::watch
