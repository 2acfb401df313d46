// Rows of a summary by their path, and the number of a module's parameters.
#pragma once

#include <ebb/watch/summary.h>

#include "support/catch.h"

#include <cstdint>
#include <string>

inline std::int64_t elements(const ebb::nn::Module& module) {
  std::int64_t count = 0;
  for (const ebb::Variable& each : module.parameters()) count += each.numel();
  return count;
}

inline const ebb::watch::SummaryRow& row(const ebb::watch::Summary& summary, const std::string& path,
                                         int call = 0) {
  for (const ebb::watch::SummaryRow& each : summary.rows)
    if (each.path == path && call-- == 0) return each;
  FAIL("no row has the path " << path);
  return summary.rows[0];
}
