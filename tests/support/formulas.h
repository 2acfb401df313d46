// Formulas of elementwise ops as device kernels describe them for fusion.
#pragma once

#include "kernel/call/kernel_traits.h"

#include <cstring>

namespace ebb::testing {

template <class Op>
detail::ElementRow row_of(const Op& op, int operands) {
  detail::ElementRow row;
  row.type = &typeid(Op);
  row.formula = &op;
  row.formula_bytes = sizeof(op);
  row.count = operands;
  return row;
}

template <class F>
detail::ElementReduction reduction_of(const F& formula) {
  detail::ElementReduction reduction;
  reduction.type = &typeid(F);
  reduction.formula_bytes = sizeof(formula);
  std::memcpy(reduction.formula, &formula, sizeof(formula));
  return reduction;
}

}  // namespace ebb::testing
