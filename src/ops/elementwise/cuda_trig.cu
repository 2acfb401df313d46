#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_trig() { register_unary(ops::Join<ops::TrigOps, ops::HyperbolicOps>{}); }

}  // namespace ebb::cuda
