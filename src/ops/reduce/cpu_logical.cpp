// The CPU kernels any, all, count_nonzero, xor_bits (hash_tensor), prod and nansum.
#include "kernel/cpu/reduce.h"
#include "ops/common/kernels.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cpu {

void any(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AnyFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void all(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AllFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::CountNonzeroFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  const DType wide = is_floating(x.dtype()) ? kDouble : kLong;
  if (x.dtype() != wide) {  // a copy, because this is rare and a loop for each dtype would be more code
    NdArray copied = NdArray::empty(x.sizes(), wide);
    copy(copied, x);
    return xor_bits(out, copied, dims);
  }
  if (wide == kDouble)
    reduce(reducers::XorBits<double>(), out, x, dims);
  else
    reduce(reducers::XorBits<std::int64_t>(), out, x, dims);
}

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ProdFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::NanSumFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

}  // namespace ebb::cpu
