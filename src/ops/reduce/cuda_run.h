// reduce_into: runs a formula of reduce/formulas.h on the device.
#pragma once

#include "kernel/cuda/reduce.h"
#include "kernel/reducers.h"

namespace ebb::cuda {

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

/// Writes the reduction of x over `dims` to `out`.
template <class F>
void reduce_into(const F& formula, NdArray& out, const NdArray& x, DimMask dims) {
  reduce(out.device(), Into<F>{formula, out.address_as<typename F::Out>()}, x, dims);
}

}  // namespace ebb::cuda
