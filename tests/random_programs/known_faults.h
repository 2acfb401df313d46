// Faults that are known and not repaired yet.
#pragma once

#include "random_programs/kinds.h"

namespace programs {

/// The known fault of a statement at that place of the program, the statements before it being there already;
/// nullptr where nothing is known.
const char* known_fault(const Statement& statement, Place place, const Program& before);
/// The known fault of any of the program's statements.
const char* known_fault(const Program& program);

}  // namespace programs
