// Norms and variances on the CPU.
#include "ops/reduce/cpu_engine.h"
#include "ops/reduce/kernels.h"
#include "ops/reduce/math.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  visit_float_double(x.dtype(), "norm", [&]<class T> {
    using reducing::NormKind;
    const auto run = [&]<NormKind kKind>() {
      reducing::Norm<T, kKind> op;
      op.p = p;
      reduce(op, out, x, dims);
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
    reducing::SquaredDeviation<T> op;
    op.divisor = divisor;
    op.mean = mean.data_as<T>();
    op.root = root;
    reduce(op, out, x, dims);
  });
}

}  // namespace ebb::cpu
