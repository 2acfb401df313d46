// Sums and means on the device.
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_numeric(stored(x.dtype()), "sum", [&]<class T> {
      reducing::WideMean<T> formula;
      formula.divisor = divisor;
      reduce_into(formula, out, x, dims);
    });
  visit_numeric(stored(x.dtype()), "sum", [&]<class T> {
    reducing::Sum<T> formula;
    formula.divisor = divisor;
    reduce_into(formula, out, x, dims);
  });
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_floating(x.dtype(), "nansum",
                          [&]<class T> { reduce_into(reducing::WideNanSum<T>(), out, x, dims); });
  visit_floating(x.dtype(), "nansum", [&]<class T> { reduce_into(reducing::NanSum<T>(), out, x, dims); });
}

}  // namespace ebb::cuda
