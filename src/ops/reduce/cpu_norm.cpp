// The CPU kernels norm, variance, amax and amin.
#include <ebb/core/visit.h>

#include "kernel/cpu/reduce.h"
#include "ops/common/kernels.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cpu {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  reducing::NormFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims, p);
}

void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root) {
  NdArray wide = mean.dtype() == kDouble ? mean : NdArray::empty(mean.sizes(), kDouble);
  visit_float_double(x.dtype(), "var", [&]<class T> {
    reducing::WideMean<T> average;
    average.divisor = static_cast<double>(reducing::reduced_count(x, dims));
    reduce(average, wide, x, dims);
    reducing::SquaredDeviation<T> op;
    op.divisor = divisor;
    op.mean = wide.address_as<double>();
    op.root = root;
    reduce(op, out, x, dims);
  });
  if (wide.dtype() != mean.dtype()) kernels::copy(mean.device(), mean, wide);
}

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<true>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::ExtremeFormula<false>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x,
                                    dims);
}

}  // namespace ebb::cpu
