// The definitions of slots, for the files that hold the CPU kernels of a list.
#pragma once

#include "kernel/levels.h"
#include "ops/elementwise/cpu_rows.h"

namespace ebb::kernels {

template <class Op>
constinit SlotOf<decltype(cpu::unary<Op>)> Unary<Op>::slot{Op::kName, levels_of<cpu::unary<Op>>};
template <class Op>
constinit SlotOf<decltype(cpu::binary<Op>)> Binary<Op>::slot{Op::kName, levels_of<cpu::binary<Op>>};
template <class Op>
constinit SlotOf<decltype(cpu::ternary<Op>)> Ternary<Op>::slot{Op::kName, levels_of<cpu::ternary<Op>>};

}  // namespace ebb::kernels

namespace ebb::cpu {

template <class Op>
constexpr const void* slot_of() {
  if constexpr (std::is_base_of_v<ops::Unary, Op>)
    return &kernels::Unary<Op>::slot;
  else if constexpr (std::is_base_of_v<ops::Ternary, Op>)
    return &kernels::Ternary<Op>::slot;
  else
    return &kernels::Binary<Op>::slot;
}

/// A member of a template exists once something refers to it.
template <class... Op>
constexpr auto slots_of(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{slot_of<Op>()...};
}

}  // namespace ebb::cpu
