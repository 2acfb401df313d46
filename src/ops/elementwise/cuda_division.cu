#include "ops/elementwise/cuda_run.h"
#include "ops/elementwise/lists.h"

namespace ebb::cuda {

void register_division() { register_binary(ops::Join<ops::DivisionOps, ops::ExtremeOps>{}); }

}  // namespace ebb::cuda
