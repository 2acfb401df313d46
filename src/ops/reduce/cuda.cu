// The device kernels sum, nansum, any, all, count_nonzero and xor_bits (hash_tensor).
#include <ebb/core/visit.h>

#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cuda {

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  reducers::SumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims,
                         divisor);
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::NanSumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void any(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AnyFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void all(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AllFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::CountNonzeroFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                  dims);
}

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "hash_tensor", [&]<class T> { reduce_into(reducers::XorBits<T>(), out, x, dims); });
}

}  // namespace ebb::cuda
