// Products and sums without NaN on the CPU.
#include "kernel/cpu/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_numeric(stored(x.dtype()), "prod",
                         [&]<class T> { reduce(reducing::WideProd<T>(), out, x, dims); });
  visit_numeric(stored(x.dtype()), "prod", [&]<class T> { reduce(reducing::Prod<T>(), out, x, dims); });
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_floating(x.dtype(), "nansum",
                          [&]<class T> { reduce(reducing::WideNanSum<T>(), out, x, dims); });
  visit_floating(x.dtype(), "nansum", [&]<class T> { reduce(reducing::NanSum<T>(), out, x, dims); });
}

}  // namespace ebb::cpu
