#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_logic() { register_binary(ops::LogicOps{}); }

}  // namespace ebb::cuda
