// The device kernels prod, amax, amin, norm and variance.
#include <ebb/core/visit.h>

#include "ops/reduce/cuda_run.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cuda {

void prod(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ProdFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ExtremeFormula<true>()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                   dims);
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ExtremeFormula<false>()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                    dims);
}

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  reducers::NormFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims, p);
}

namespace {

template <class T>
struct Spread {
  using In = T;
  using A = reducers::Accumulator<T>;
  using Acc = reducers::Moments<double>;  // squares of floats may overflow a float
  A *out, *mean;
  double divisor;
  bool root;

  EBB_HD Acc identity() const { return Acc::none(); }
  EBB_HD void take(Acc& total, T x, std::int64_t, std::int64_t) const { total.take(static_cast<double>(x)); }
  EBB_HD Acc merge(const Acc& a, const Acc& b) const { return Acc::merge(a, b); }
  EBB_HD void store(std::int64_t output, const Acc& total) const {
    const double variance = total.deviations() / divisor;
    mean[output] = static_cast<A>(total.mean());
    out[output] = static_cast<A>(root ? std::sqrt(variance) : variance);
  }
};

}  // namespace

void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root) {
  visit_floating(x.dtype(), "var", [&]<class T> {
    using A = reducers::Accumulator<T>;
    reduce(out.device(), Spread<T>{out.address_as<A>(), mean.address_as<A>(), divisor, root}, x, dims);
  });
}

}  // namespace ebb::cuda
