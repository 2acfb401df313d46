// Functions that exceed the bounds of accuracy.
#pragma once

#include "accuracy/measure.h"

#include <string>

namespace accuracy {

/// Returns why a part of a row may exceed the bound; empty if it may not.
std::string exception_of(const std::string& row, Part part, ebb::DType dtype);

}  // namespace accuracy
