// Unary ops from their formulas: most public functions of the family are `return unary<Exp>(self);`.
#pragma once

#include <ebb/ops/elementwise.h>

#include "ops/elementwise/record_binary.h"

namespace ebb::ops {

template <class Op>
Variable gradient_of(const Op& op, const Variable& g, const Variable& kept);

/// The gradient of a formula with a `second_derivative`, recorded as one op of g and the saved value.
template <class Op>
struct BackwardRule {
  static constexpr unsigned kUsesA = kB, kUsesB = Op::kStraight ? kNone : kA | kB;
  Op op;
  static std::string name() { return node_name<Gradient<Op>>(); }
  Variable a(const Variable& gg, const SavedValues<Variable>& k) const { return gradient_of(op, gg, k.b); }
  Variable b(const Variable& gg, const SavedValues<Variable>& k) const {
    if constexpr (Op::kStraight)
      return zeros_like(gg);
    else
      return op.second_derivative(gg * k.a, k.b);
  }
};

/// Returns the gradient. The kernel of a Fused formula computes it in one pass, unless the gradient is
/// recorded and the formula has no second derivative. In all other cases the gradient is composed of
/// differentiable ops.
template <class Op>
Variable gradient_of(const Op& op, const Variable& g, const Variable& kept) {
  const Gradient<Op> backward{{}, op};
  if constexpr (Fused<Op> && has_second_derivative<Op>) {
    return run_binary(g, kept, backward, BackwardRule<Op>{op});
  } else {
    if constexpr (Fused<Op>)
      if (!autograd::records(g, kept))
        return Variable(VariableImpl::of([&] { return apply(backward, g, kept); }));
    return backward.value(g, kept);
  }
}

/// The rule of a unary formula.
template <class Op>
struct FormulaRule {
  static constexpr Saves kSaves = Op::kSaves;
  static constexpr bool kRoundsOnce = Fused<Op>, kHasLate = Op::kHasLate;
  Op op;
  static std::string name() { return node_name<Op>(); }
  Variable operator()(const Variable& g) const { return op.gradient(g); }
  Variable operator()(const Variable& g, const Variable& kept) const { return gradient_of(op, g, kept); }
  Variable late(const Variable& g, const Variable& y) const { return op.late(g, y); }
};

template <class Op>
Variable unary(const Variable& x, const Op& op = {}) {
  if constexpr (kGivesBool<Op>)
    return Variable(apply(op, x));
  else if constexpr (has_gradient<Op>)
    return run_unary(x, op, FormulaRule<Op>{op});
  else
    return run_flat(x, op);
}

template <class Op>
Variable& unary_inplace(const Variable& self, const Op& op = {}) {
  if constexpr (has_gradient<Op>)
    return run_unary_inplace(self, op, FormulaRule<Op>{op});
  else
    return run_flat_inplace(op, self);
}

}  // namespace ebb::ops
