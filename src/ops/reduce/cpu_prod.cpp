// Products and sums without NaN on the CPU.
#include "kernel/cpu/reduce.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cpu {

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ProdFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::NanSumFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

}  // namespace ebb::cpu
