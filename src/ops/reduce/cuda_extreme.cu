// The device kernels prod, amax and amin.
#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"

namespace ebb::cuda {

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ProdFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<true>()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                   dims);
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<false>()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                    dims);
}

}  // namespace ebb::cuda
