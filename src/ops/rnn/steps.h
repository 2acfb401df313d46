// Checks of the lengths and batch sizes of packed sequences.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Returns the elements of a vector of integers on the CPU. Errors of `op` call it `what`.
DimVector checked_integers(const char* op, const char* what, const Variable& x);

/// Returns the number of data's rows in each step. Throws unless they add up to the number of rows and never
/// increase.
DimVector checked_batch_sizes(const char* op, const Variable& data, const Variable& batch_sizes);

}  // namespace ebb::ops
