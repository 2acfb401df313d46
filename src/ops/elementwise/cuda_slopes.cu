#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_slopes() { register_binary(ops::Join<ops::PiecewiseGradOps, ops::SmoothGradOps>{}); }

}  // namespace ebb::cuda
