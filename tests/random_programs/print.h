// Programs as source.
#pragma once

#include <string>

#include "random_programs/kinds.h"

namespace programs {

/// The function and its calls as statements of C++, or of Python, a statement a line.
std::string source(const Program& program, Language language);

}  // namespace programs
