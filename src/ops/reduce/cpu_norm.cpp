// Norms and variances on the CPU.
#include "kernel/cpu/reduce.h"
#include "kernel/reducer_kinds.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  visit_float_double(x.dtype(), "norm", [&]<class T> {
    reducing::with_norm_kind(p, [&]<reducing::NormKind kKind> {
      reducing::Norm<T, kKind> op;
      op.p = p;
      reduce(op, out, x, dims);
    });
  });
}

void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root) {
  sum(mean, x, dims, static_cast<double>(reducing::reduced_count(x, dims)));
  visit_float_double(x.dtype(), "var", [&]<class T> {
    reducing::SquaredDeviation<T> op;
    op.divisor = divisor;
    op.mean = mean.data_as<T>();
    op.root = root;
    reduce(op, out, x, dims);
  });
}

}  // namespace ebb::cpu
