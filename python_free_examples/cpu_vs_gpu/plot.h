// write_svg: charts of the timings with logarithmic axes.
#pragma once

#include "workloads.h"

#include <string>

/// Writes an SVG file with one panel per workload and one line per device. Throws ebb::Error if that fails.
void write_svg(const std::string& path, const std::vector<Workload>& workloads);
