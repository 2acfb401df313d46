#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_special() { register_unary(ops::SpecialOps{}); }

}  // namespace ebb::cuda
