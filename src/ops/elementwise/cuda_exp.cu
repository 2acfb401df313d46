#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_exp() { register_unary(ops::ExpOps{}); }

}  // namespace ebb::cuda
