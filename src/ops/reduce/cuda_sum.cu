// The device kernels sum and nansum.
#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"

namespace ebb::cuda {

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  reducing::SumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims,
                         divisor);
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::NanSumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

}  // namespace ebb::cuda
