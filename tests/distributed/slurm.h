// has_slurm: tests that start ranks by Slurm.
#pragma once

#include "ranks.h"
#include "support/catch.h"

namespace ranks {

/// Returns whether srun and a controller with nodes that accept jobs are there. Otherwise warns that the case
/// is skipped.
inline bool has_slurm() {
  static const bool works =
      shell("timeout 10 sinfo --noheader --states idle,mixed --format %n | grep .").status == 0;
  if (!works) WARN("skipped: needs srun and a controller of Slurm with an idle node (Debian: slurm-wlm)");
  return works;
}

}  // namespace ranks
