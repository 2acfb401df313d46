// Largest and smallest elements on the CPU.
#include "kernel/cpu/reduce.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cpu {

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<true>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<false>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x,
                                    dims);
}

}  // namespace ebb::cpu
