// Descriptions of reduction calls, for code that fuses the producer of the elements with their reduction.
#include "kernel/levels.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace ebb::ops {
namespace {

// Describes a sum of all elements of a Float or Double array on the CPU. Returns false for other sums.
bool describe_sum(const NdArray& out, detail::ElementReduction& reduction) {
  const NdArray& x = *reduction.from;
  if (out.numel() != 1 || out.dtype() != x.dtype()) return false;
  if (x.dtype() != kFloat && x.dtype() != kDouble) return false;
  at_cpu_level<cpu::sum_steps>()(reduction, x.dtype(), x.numel());
  return true;
}

// Returns the array that the call writes if the call belongs to the slot and can be described, otherwise
// null.
template <bool is_sum = false, class Slot, class Formula>
const NdArray* describe(detail::KeptCall& call, detail::ElementReduction& reduction, const Slot& slot,
                        const Formula& formula) {
  auto* const kept = call.as(slot);
  if (!kept) return nullptr;
  const auto read = [&](const NdArray& out, const NdArray& x, DimMask dims,
                        const auto&... more) -> const NdArray* {
    reduction.from = &x;
    reduction.dims = dims;
    if (x.device().is_cpu()) {
      if constexpr (is_sum) {
        ((reduction.divisor = more), ...);
        if (describe_sum(out, reduction)) return &out;
      }
      return nullptr;
    }
    const auto take = [&]<class F>(const F& found) {
      static_assert(sizeof(F) <= detail::ElementReduction::kFormula);
      reduction.type = &typeid(F);
      reduction.formula_bytes = sizeof(F);
      std::memcpy(reduction.formula, &found, sizeof(F));
    };
    formula(take, out, x, dims, more...);
    return &out;
  };
  return std::apply([&](NdArray& out, NdArray& x, const auto&... more) { return read(out, x, more...); },
                    kept->arguments());
}

}  // namespace

template <Reduction kernel>
const NdArray* reduction_of(detail::KeptCall& call, detail::ElementReduction& reduction) {
  using enum Reduction;
  if constexpr (kernel == sum) return describe<true>(call, reduction, kernels::sum, reducers::SumFormula());
  if constexpr (kernel == nansum)
    return describe(call, reduction, kernels::nansum, reducers::NanSumFormula());
  if constexpr (kernel == prod) return describe(call, reduction, kernels::prod, reducers::ProdFormula());
  if constexpr (kernel == amax)
    return describe(call, reduction, kernels::amax, reducers::ExtremeFormula<true>());
  if constexpr (kernel == amin)
    return describe(call, reduction, kernels::amin, reducers::ExtremeFormula<false>());
  if constexpr (kernel == any) return describe(call, reduction, kernels::any, reducers::AnyFormula());
  if constexpr (kernel == all) return describe(call, reduction, kernels::all, reducers::AllFormula());
  if constexpr (kernel == count_nonzero)
    return describe(call, reduction, kernels::count_nonzero, reducers::CountNonzeroFormula());
  if constexpr (kernel == norm) return describe(call, reduction, kernels::norm, reducers::NormFormula());
}

template const NdArray* reduction_of<Reduction::sum>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::nansum>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::prod>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::amax>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::amin>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::any>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::all>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::count_nonzero>(detail::KeptCall&, detail::ElementReduction&);
template const NdArray* reduction_of<Reduction::norm>(detail::KeptCall&, detail::ElementReduction&);

}  // namespace ebb::ops
