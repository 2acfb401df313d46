// Means and variances on the device, in one pass.
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {
namespace {

template <class T>
struct Spread {
  using In = T;
  using A = reducing::Accumulator<T>;
  using Acc = reducing::Moments<A>;
  A *out, *mean;
  A divisor;
  bool root;

  EBB_HD Acc identity() const { return Acc::none(); }
  EBB_HD void take(Acc& total, T x, std::int64_t, std::int64_t) const { total.take(static_cast<A>(x)); }
  EBB_HD Acc merge(const Acc& a, const Acc& b) const { return Acc::merge(a, b); }
  EBB_HD void store(std::int64_t output, const Acc& total) const {
    const A variance = total.deviations() / divisor;
    mean[output] = total.mean();
    out[output] = root ? std::sqrt(variance) : variance;
  }
};

}  // namespace

void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root) {
  visit_floating(x.dtype(), "var", [&]<class T> {
    using A = reducing::Accumulator<T>;
    reduce(out.device(), Spread<T>{out.data_as<A>(), mean.data_as<A>(), static_cast<A>(divisor), root}, x,
           dims);
  });
}

}  // namespace ebb::cuda
