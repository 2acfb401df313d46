// Sums and means on the CPU.
#include "kernel/cpu/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  visit_numeric(stored(x.dtype()), "sum", [&]<class T> {
    reducing::Sum<T> op;
    op.divisor = divisor;
    reduce(op, out, x, dims);
  });
}

}  // namespace ebb::cpu
