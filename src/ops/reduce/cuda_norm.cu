// Norms and variances on the device.
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  visit_float_double(x.dtype(), "norm", [&]<class T> {
    using reducing::NormKind;
    const auto run = [&]<NormKind kKind>() {
      reducing::Norm<T, kKind> formula;
      formula.p = p;
      reduce_into(formula, out, x, dims);
    };
    if (p == 0)
      run.template operator()<NormKind::zero>();
    else if (p == 1)
      run.template operator()<NormKind::one>();
    else if (p == 2)
      run.template operator()<NormKind::two>();
    else if (p == INFINITY)
      run.template operator()<NormKind::max>();
    else if (p == -INFINITY)
      run.template operator()<NormKind::min>();
    else
      run.template operator()<NormKind::general>();
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
