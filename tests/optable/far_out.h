// The rows that are not exact where numbers are tiny or huge.
#pragma once

#include "optable/table.h"

namespace optable {

/// Whether the row stands on the list for that dtype. A row that has become exact must come off it.
bool inexact_far_out(const std::string& row, ebb::DType dtype);

/// Whether the row can be asked: polynomials take as many steps as their degree says, which is one of the
/// numbers.
bool ends_far_out(const std::string& row);

}  // namespace optable
