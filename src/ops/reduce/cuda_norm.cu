// The device kernel norm.
#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"

namespace ebb::cuda {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  reducing::NormFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims, p);
}

}  // namespace ebb::cuda
