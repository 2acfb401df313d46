// The functions that are not as exact as they should be.
#pragma once

#include "accuracy/measure.h"

#include <string>

namespace accuracy {

/// Why a part of a row may be further off than allowed; empty where it may not.
std::string exception_of(const std::string& row, Part part, ebb::DType dtype);

}  // namespace accuracy
