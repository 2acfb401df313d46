// The rank of this process, from the variables that launchers set.
#include "watch/rank.h"

#include <ebb/core/environment.h>

#include <string_view>

namespace ebb::watch {

bool writes_output() {
  static const bool writes = [] {
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
      if (const char* rank = detail::environment(name)) return std::string_view(rank) == "0";
    return true;
  }();
  return writes;
}

}  // namespace ebb::watch
