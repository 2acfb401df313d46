// The device kernels sum, nansum, prod, amax, amin, any, all, count_nonzero, xor_bits (hash_tensor), norm and
// variance.
#include <ebb/core/visit.h>

#include "kernel/cuda/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

namespace ebb::cuda {
namespace {

/// A formula of reduce/formulas.h and the destination of its results.
template <class F>
struct Into {
  using In = typename F::In;
  using Acc = typename F::Acc;
  F formula;
  typename F::Out* out;

  EBB_HD Acc identity() const { return formula.identity(); }
  EBB_HD Acc load(In x, std::int64_t output, std::int64_t) const { return formula.load(x, output); }
  EBB_HD Acc merge(Acc a, Acc b) const { return formula.merge(a, b); }
  EBB_HD void store(std::int64_t output, Acc value) const { out[output] = formula.finish(value); }
};

template <class F>
void reduce_into(const F& formula, NdArray& out, const NdArray& x, DimMask dims) {
  reduce(out.device(), Into<F>{formula, out.address_as<typename F::Out>()}, x, dims);
}

}  // namespace

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  reducers::SumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims,
                         divisor);
}

void nansum(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::NanSumFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

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

void any(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AnyFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void all(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::AllFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x, dims);
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::CountNonzeroFormula()([&](const auto& formula) { reduce_into(formula, out, x, dims); }, out, x,
                                  dims);
}

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "hash_tensor", [&]<class T> { reduce_into(reducers::XorBits<T>(), out, x, dims); });
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
