#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_sign() { register_unary(ops::SignOps{}); }

}  // namespace ebb::cuda
