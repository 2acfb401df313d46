#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_round() { register_unary(ops::Join<ops::RoundOps, ops::RootOps>{}); }

}  // namespace ebb::cuda
