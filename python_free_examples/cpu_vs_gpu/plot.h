// Timings as an SVG drawing with logarithmic axes.
#pragma once

#include "workloads.h"

#include <string>

/// One panel a workload, one line a device. Throws ebb::Error if the file cannot be written.
void write_svg(const std::string& path, const std::vector<Workload>& workloads);
