// The definitions of kernel slots, included by the generated files with the CPU kernels of a list.
#pragma once

#include "kernel/levels.h"
#include "ops/elementwise/cpu_rows.h"

namespace ebb::ops {

template <class Op>
constexpr auto& slot_of() {
  if constexpr (std::is_base_of_v<Unary, Op>)
    return kernels::Unary<Op>::slot;
  else if constexpr (std::is_base_of_v<Ternary, Op>)
    return kernels::Ternary<Op>::slot;
  else
    return kernels::Binary<Op>::slot;
}

/// Describes a recorded call of a formula's kernel in `row`, and returns the call's output. See
/// detail::KernelTraits.
template <class Op>
[[gnu::cold]] const NdArray* element_row(detail::KeptCall& call, detail::ElementRow& row) {
  auto& arguments = call.as(slot_of<Op>())->arguments();
  const NdArray& out = std::get<0>(arguments);
  const auto describe = [&](DType dtype, const Op& op) {
    row.type = &typeid(Op);
    row.formula_bytes = sizeof(Op);
    row.formula = &op;
    row.dtype = dtype;
  };
  if constexpr (std::is_base_of_v<Unary, Op>) {
    const NdArray& x = std::get<1>(arguments);
    describe(x.dtype(), std::get<2>(arguments));
    row.add(x);
  } else if constexpr (std::is_base_of_v<Ternary, Op>) {
    row.condition = Op::kCondition;
    describe(out.dtype(), std::get<4>(arguments));
    row.add(std::get<1>(arguments).given());
    row.add(std::get<2>(arguments).given());
    row.add(std::get<3>(arguments).given());
  } else {
    describe(std::get<1>(arguments), std::get<4>(arguments));
    row.add(std::get<2>(arguments).given());
    row.add(std::get<3>(arguments).given());
  }
  if (out.device().is_cpu()) at_cpu_level<cpu::find_row<Op>>()(row);
  return &out;
}

template <class Op>
constexpr detail::KernelTraits traits_of_formula{.element_row = &element_row<Op>};

}  // namespace ebb::ops

namespace ebb::kernels {

template <class Op>
constinit SlotOf<decltype(cpu::unary<Op>)> Unary<Op>::slot{Op::kName, levels_of<cpu::unary<Op>>,
                                                           ops::traits_of_formula<Op>};
template <class Op>
constinit SlotOf<decltype(cpu::binary<Op>)> Binary<Op>::slot{Op::kName, levels_of<cpu::binary<Op>>,
                                                             ops::traits_of_formula<Op>};
template <class Op>
constinit SlotOf<decltype(cpu::ternary<Op>)> Ternary<Op>::slot{Op::kName, levels_of<cpu::ternary<Op>>,
                                                               ops::traits_of_formula<Op>};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// Returns the addresses of the slots of a list. This also instantiates the slots, because a static member of
/// a template is instantiated only if code refers to it.
template <class... Op>
constexpr auto slots_of(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&ops::slot_of<Op>()...};
}

}  // namespace ebb::cpu
