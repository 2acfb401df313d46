// clamp, clamp_min and clamp_max with scalars and with tensors as bounds.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/piecewise.h"
#include "ops/elementwise/formulas/ternary.h"
#include "ops/elementwise/record_binary.h"
#include "ops/elementwise/record_formula.h"

#include <limits>

namespace ebb {
namespace {

using namespace ops;

template <char kind>
struct ClampRule : FormulaRule<Clamp> {
  static std::string name() {
    return kind == 'b' ? "ClampBackward1" : kind == 'l' ? "ClampMinBackward0" : "ClampMaxBackward0";
  }
  // The gradient depends on x only through the comparisons with the bounds, so its derivative with respect to
  // x is zero. Therefore x is not recorded as an input of the gradient.
  Variable operator()(const Variable& g, const Variable& x) const {
    const Gradient<Clamp> backward{{}, op};
    return autograd::records(g) ? backward.value(g, x) : Variable(apply(backward, g, x));
  }
};

struct ClampMinTensorRule {
  static constexpr char kName[] = "ClampMinBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const SavedValues<Variable>& k) const { return Maximum().gradient_a(g, k); }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const { return Maximum().gradient_b(g, k); }
};
struct ClampMaxTensorRule {
  static constexpr char kName[] = "ClampMaxBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const SavedValues<Variable>& k) const { return Minimum().gradient_a(g, k); }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const { return Minimum().gradient_b(g, k); }
};

void check_bounds(bool any) {
  EBB_CHECK(any, "clamp: At least one of 'min' or 'max' must not be None; give one.");
}

// Returns the dtype of the result. It is floating for an integer tensor with a floating bound, as for the
// scalar operands of every op.
DType clamp_dtype(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  DType dtype = self.dtype();
  if (min) dtype = promote_with_scalar(dtype, *min);
  if (max) dtype = promote_with_scalar(dtype, *max);
  return dtype;
}

Clamp clamp_op(const optional<Scalar>& min, const optional<Scalar>& max) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  return {{}, min.value_or(-infinite), max.value_or(infinite), min.has_value(), max.has_value()};
}

template <char kind>
Variable run_clamp(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  const Variable x = dtype == self.dtype() ? self : ebb::to(self, dtype);
  const Clamp op = clamp_op(min, max);
  return run_unary(x, op, ClampRule<kind>{op});
}

template <char kind>
Variable& run_clamp_inplace(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  EBB_CHECK(dtype == self.dtype(), "clamp_: result type ", dtype,
            " can't be cast to the desired output type ", self.dtype(), ". Convert self first.");
  const Clamp op = clamp_op(min, max);
  return run_unary_inplace(self, op, ClampRule<kind>{op});
}

}  // namespace

Variable clamp(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  check_bounds(min || max);
  return run_clamp<'b'>(self, min, max);
}
Variable& clamp_(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  check_bounds(min || max);
  return run_clamp_inplace<'b'>(self, min, max);
}
Variable clamp_min(const Variable& self, const Scalar& min) { return run_clamp<'l'>(self, min, nullopt); }
Variable& clamp_min_(const Variable& self, const Scalar& min) {
  return run_clamp_inplace<'l'>(self, min, nullopt);
}
Variable clamp_max(const Variable& self, const Scalar& max) { return run_clamp<'h'>(self, nullopt, max); }
Variable& clamp_max_(const Variable& self, const Scalar& max) {
  return run_clamp_inplace<'h'>(self, nullopt, max);
}

Variable clamp_min(const Variable& self, const Variable& min) {
  return run_binary(self, min, Maximum(), ClampMinTensorRule());
}
Variable& clamp_min_(const Variable& self, const Variable& min) {
  return run_binary_inplace(self, min, Maximum(), ClampMinTensorRule());
}
Variable clamp_max(const Variable& self, const Variable& max) {
  return run_binary(self, max, Minimum(), ClampMaxTensorRule());
}
Variable& clamp_max_(const Variable& self, const Variable& max) {
  return run_binary_inplace(self, max, Minimum(), ClampMaxTensorRule());
}

Variable clamp(const Variable& self, const optional<Variable>& min, const optional<Variable>& max) {
  const bool low = min && min->defined(), high = max && max->defined();
  check_bounds(low || high);
  if (low && high) return ternary<ClampBetween>(self, *min, *max);
  return low ? clamp_min(self, *min) : clamp_max(self, *max);
}
Variable& clamp_(const Variable& self, const optional<Variable>& min, const optional<Variable>& max) {
  const bool low = min && min->defined(), high = max && max->defined();
  check_bounds(low || high);
  if (low && high) return ternary_inplace<ClampBetween>(self, *min, *max);
  return low ? clamp_min_(self, *min) : clamp_max_(self, *max);
}

}  // namespace ebb
