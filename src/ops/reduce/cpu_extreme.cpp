// Largest and smallest elements on the CPU.
#include "kernel/cpu/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  visit_numeric(stored(x.dtype()), "amax",
                [&]<class T> { reduce(reducing::Extreme<T, true>(), out, x, dims); });
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  visit_numeric(stored(x.dtype()), "amin",
                [&]<class T> { reduce(reducing::Extreme<T, false>(), out, x, dims); });
}

}  // namespace ebb::cpu
