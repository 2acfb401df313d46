// The rows that are not exact where numbers are tiny or huge.
#pragma once

#include "optable/table.h"

namespace optable {

/// Whether the row stands on the list for that dtype. A row that has become exact must come off it.
bool inexact_far_out(const std::string& row, ebb::DType dtype);

}  // namespace optable
