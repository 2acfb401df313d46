// The batch sizes of packed sequences.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// The numbers of a vector of integers on the CPU, `what` being what it is to `op`.
DimVector checked_integers(const char* op, const char* what, const Variable& x);

/// How many of data's rows each step has; throws unless there are as many, and no more at one step than
/// before.
DimVector checked_batch_sizes(const char* op, const Variable& data, const Variable& batch_sizes);

}  // namespace ebb::ops
