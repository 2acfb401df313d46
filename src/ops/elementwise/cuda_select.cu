#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_select() { register_ternary(ops::TernaryOps{}); }

}  // namespace ebb::cuda
