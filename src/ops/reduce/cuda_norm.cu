// Norms and variances on the device.
#include "ops/reduce/cuda_run.h"
#include "ops/reduce/dispatch.h"

namespace ebb::cuda {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  visit_float_double(x.dtype(), "norm", [&]<class T> {
    reducing::with_norm_kind(p, [&]<reducing::NormKind kKind> {
      reducing::Norm<T, kKind> formula;
      formula.p = p;
      reduce_into(formula, out, x, dims);
    });
  });
}

void variance(NdArray& out, const NdArray& x, const NdArray& mean, DimMask dims, double divisor, bool root) {
  visit_float_double(x.dtype(), "var", [&]<class T> {
    reducing::SquaredDeviation<T> formula;
    formula.divisor = divisor;
    formula.mean = mean.data_as<T>();
    formula.root = root;
    reduce_into(formula, out, x, dims);
  });
}

}  // namespace ebb::cuda
