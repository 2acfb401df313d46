// reduction: the datatype and the MPI_Op of a dtype and a ReduceOp.
#pragma once

#include "distributed/transport.h"

#include <mpi.h>

namespace ebb::distributed::mpi {

struct Reduction {
  MPI_Datatype type;
  MPI_Op op;
};

/// Returns the datatype, and the operation for SUM (AVG is a SUM that divide() completes), PRODUCT, MIN or
/// MAX. Half and BFloat16 are reduced in float, and a NaN wins MIN and MAX in all floating dtypes, by
/// operations of ebb.
Reduction reduction(DType dtype, ReduceOp op);

/// Divides `count` elements of a floating dtype by the number of ranks.
void divide(void* data, DType dtype, std::int64_t count, int ranks);

}  // namespace ebb::distributed::mpi
