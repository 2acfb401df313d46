// Descriptions of calls of reductions, for those who make the elements that are reduced.
#include "kernel/levels.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace ebb::ops {
namespace {

// Only a sum of all elements has steps on the CPU.
bool describe_on_cpu(const detail::KeptCall& call, const NdArray& out, detail::ElementReduction& reduction) {
  const NdArray& x = *reduction.from;
  const detail::AnySlot* const sum = &kernels::sum;
  if (call.slot() != sum || out.numel() != 1 || out.dtype() != x.dtype()) return false;
  if (x.dtype() != kFloat && x.dtype() != kDouble) return false;
  at_cpu_level<cpu::sum_steps>()(reduction, x.dtype(), x.numel());
  return true;
}

// The array that the call writes, if it is one of the slot's and can be described; else null.
template <class Slot, class Formula>
const NdArray* describe(detail::KeptCall& call, detail::ElementReduction& reduction, const Slot& slot,
                        const Formula& formula) {
  auto* const kept = call.as(slot);
  if (!kept) return nullptr;
  const auto read = [&](const NdArray& out, const NdArray& x, DimMask dims,
                        const auto&... more) -> const NdArray* {
    reduction.from = &x;
    reduction.dims = dims;
    if (x.device().is_cpu()) {
      ((reduction.divisor = more), ...);
      return describe_on_cpu(call, out, reduction) ? &out : nullptr;
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

const NdArray* reduction_of(detail::KeptCall& call, detail::ElementReduction& reduction) {
  const NdArray* out = nullptr;
  const auto is = [&](const auto& slot, const auto& formula) {
    return (out = describe(call, reduction, slot, formula)) != nullptr;
  };
  static_cast<void>(
      is(kernels::sum, reducing::SumFormula()) || is(kernels::nansum, reducing::NanSumFormula()) ||
      is(kernels::prod, reducing::ProdFormula()) || is(kernels::amax, reducing::ExtremeFormula<true>()) ||
      is(kernels::amin, reducing::ExtremeFormula<false>()) || is(kernels::any, reducing::AnyFormula()) ||
      is(kernels::all, reducing::AllFormula()) ||
      is(kernels::count_nonzero, reducing::CountNonzeroFormula()) ||
      is(kernels::norm, reducing::NormFormula()));
  return out;
}

}  // namespace ebb::ops
