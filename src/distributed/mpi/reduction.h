// reduce: the reduction of arrays of any dtype.
#pragma once

#include "distributed/transport.h"

namespace ebb::distributed::mpi {

/// Reduces `ranks` arrays of `count` elements each, which follow each other, in their order, and writes the
/// result to the first. Half and BFloat16 are rounded after each pair. A NaN wins MIN and MAX.
void reduce(void* arrays, int ranks, DType dtype, ReduceOp op, std::int64_t count);

}  // namespace ebb::distributed::mpi
