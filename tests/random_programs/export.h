// Programs and rows as Python that runs them in PyTorch and compares.
#pragma once

#include <iosfwd>

#include "random_programs/program.h"

namespace programs {

/// Writes a file: the programs drawn with `count` seeds from `seed` on, and what each statement of them gave.
void export_programs(std::ostream& file, std::uint64_t seed, std::int64_t count);
/// Every row that PyTorch has, on the row's own samples: results, gradients, and what is written in place.
void export_rows(std::ostream& file);

/// Functions of Python that such a file begins with.
extern const char* const python_prelude;

}  // namespace programs
