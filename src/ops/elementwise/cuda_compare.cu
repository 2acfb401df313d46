#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_compare() { register_binary(ops::CompareOps{}); }

}  // namespace ebb::cuda
