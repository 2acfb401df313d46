#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_grad() { register_binary(ops::GradOps{}); }

}  // namespace ebb::cuda
