#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_predicate() { register_unary(ops::PredicateOps{}); }

}  // namespace ebb::cuda
