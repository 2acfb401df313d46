// Makes a failing program small.
#pragma once

#include <functional>

#include "random_programs/program.h"

namespace programs {

/// A program with as few statements, calls and results as the search finds, for which `fails` still holds.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace programs
