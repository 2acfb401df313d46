// Products and extremes on the device.
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_numeric(stored(x.dtype()), "prod",
                         [&]<class T> { reduce_into(reducing::WideProd<T>(), out, x, dims); });
  visit_numeric(stored(x.dtype()), "prod", [&]<class T> { reduce_into(reducing::Prod<T>(), out, x, dims); });
}

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  visit_numeric(stored(x.dtype()), "amax",
                [&]<class T> { reduce_into(reducing::Extreme<T, true>(), out, x, dims); });
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  visit_numeric(stored(x.dtype()), "amin",
                [&]<class T> { reduce_into(reducing::Extreme<T, false>(), out, x, dims); });
}

}  // namespace ebb::cuda
