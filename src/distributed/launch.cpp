// read_launch: the variables of torchrun, Open MPI, PMI and Slurm.
#include "distributed/launch.h"

#include <ebb/core/environment.h>
#include <ebb/core/error.h>

#include <charconv>
#include <cstring>
#include <optional>

namespace ebb::distributed {
namespace {

struct Names {
  const char *launcher, *rank, *world_size, *local_rank, *local_size;
};

// Slurm sets SLURM_NTASKS in the shell of a batch job, too, which is one process. It sets the number of tasks
// of a step only for processes that srun started.
constexpr Names kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
};

// Returns the value of a variable, or `missing` if it is not set.
int number(const char* name, int missing, int least, int most) {
  const char* const value = name ? ebb::detail::environment(name) : nullptr;
  if (!value) return missing;
  int result = 0;
  const char* const end = value + std::strlen(value);
  const auto [stop, error] = std::from_chars(value, end, result);
  EBB_CHECK(error == std::errc() && stop == end && result >= least && result <= most,
            "distributed::init: ", name, " is \"", value, "\", but must be an integer from ", least, " to ",
            most, ". A launcher sets this variable: start the program with a launcher, or unset it");
  return result;
}

}  // namespace

Launch read_launch() {
  constexpr int kMost = 1 << 24;
  Launch launch;
  for (const Names& names : kLaunchers) {
    if (!ebb::detail::environment(names.rank) || !ebb::detail::environment(names.world_size)) continue;
    launch.launcher = names.launcher;
    launch.world_size = number(names.world_size, 1, 1, kMost);
    launch.rank = number(names.rank, 0, 0, launch.world_size - 1);
    launch.local_rank = number(names.local_rank, 0, 0, kMost);
    launch.local_size = number(names.local_size, launch.world_size, 1, kMost);
    break;
  }
  if (const char* const address = ebb::detail::environment("MASTER_ADDR")) launch.master_address = address;
  launch.master_port = number("MASTER_PORT", 0, 1, 65535);
  return launch;
}

}  // namespace ebb::distributed
