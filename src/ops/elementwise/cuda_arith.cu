#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_arith() { register_binary(ops::ArithmeticOps{}); }

}  // namespace ebb::cuda
