#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_binary_math() { register_binary(ops::BinaryMathOps{}); }

}  // namespace ebb::cuda
