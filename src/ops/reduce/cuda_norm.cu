// Norms on the device.
#include "kernel/reducer_kinds.h"
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  visit_floating(x.dtype(), "norm", [&]<class T> {
    reducing::with_norm_kind(p, [&]<reducing::NormKind kKind> {
      reducing::Norm<T, kKind> formula;
      formula.p = p;
      reduce_into(formula, out, x, dims);
    });
  });
}

}  // namespace ebb::cuda
