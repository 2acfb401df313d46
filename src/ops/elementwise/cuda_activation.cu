#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_activation() { register_unary(ops::Join<ops::PiecewiseOps, ops::SmoothOps>{}); }

}  // namespace ebb::cuda
