// The device kernels any, all, count_nonzero and xor_bits (hash_tensor).
#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"

namespace ebb::cuda {

void any(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::AnyFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void all(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::AllFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) {
  reducing::CountNonzeroFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                  dims);
}

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "hash_tensor", [&]<class T> { reduce_into(reducing::XorBits<T>(), out, x, dims); });
}

}  // namespace ebb::cuda
