// Clamping by numbers and by tensors.
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_binary.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

// Passes the gradient within the bounds. It depends on x by where it is cut only: nothing to record of x.
Variable clamp_gradient(const Variable& g, const Variable& x, const ClampGrad& op) {
  if (!autograd::records(g)) return Variable(apply(op, g, x));
  const Variable above = x >= op.low.floating, below = x <= op.high.floating;
  return where(op.has_low && op.has_high ? logical_and(above, below) : op.has_low ? above : below, g, 0);
}

template <char kind>
struct ClampRule {
  static constexpr const char* kName = kind == 'b'   ? "ClampBackward1"
                                       : kind == 'l' ? "ClampMinBackward0"
                                                     : "ClampMaxBackward0";
  static constexpr Keep kKeep = Keep::input;
  ClampGrad op;
  Variable operator()(const Variable& g, const Variable& x) const { return clamp_gradient(g, x, op); }
};

// With tensors for bounds the one that decides gets the gradient.
struct ClampTensorRule {
  static constexpr char kName[] = "ClampBackward0";
  static constexpr unsigned kUses[3] = {kA | kB | kC, kA | kB | kC, kA | kB | kC};
  Variable grad(int operand, const Variable& g, const Kept& k) const {
    if (operand == 0) return where(logical_and(k.a >= k.b, k.a <= k.c), g, 0);
    if (operand == 1) return where(logical_and(k.a < k.b, k.b < k.c), g, 0);
    return where(logical_or(k.a > k.c, k.c < k.b), g, 0);
  }
};
struct ClampMinTensorRule {
  static constexpr char kName[] = "ClampMinBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return where(k.a >= k.b, g, 0); }
  Variable b(const Variable& g, const Kept& k) const { return where(k.a < k.b, g, 0); }
};
struct ClampMaxTensorRule {
  static constexpr char kName[] = "ClampMaxBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return where(k.a <= k.b, g, 0); }
  Variable b(const Variable& g, const Kept& k) const { return where(k.a > k.b, g, 0); }
};

ClampGrad grad_op(const optional<Scalar>& min, const optional<Scalar>& max) {
  return {min.value_or(0), max.value_or(0), min.has_value(), max.has_value()};
}

void check_bounds(bool any) {
  EBB_CHECK(any, "clamp: At least one of 'min' or 'max' must not be None; give one.");
}

// Bounds of a floating kind lift integers, as numbers do everywhere.
DType clamp_dtype(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  DType dtype = self.dtype();
  if (min) dtype = promote_with_scalar(dtype, *min);
  if (max) dtype = promote_with_scalar(dtype, *max);
  return dtype;
}

Clamp clamp_op(const optional<Scalar>& min, const optional<Scalar>& max) {
  return {min.value_or(0), max.value_or(0), min.has_value(), max.has_value()};
}

template <char kind>
Variable run_clamp(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  const Variable x = dtype == self.dtype() ? self : ebb::to(self, dtype);
  return run_unary(x, clamp_op(min, max), ClampRule<kind>{grad_op(min, max)});
}

template <char kind>
Variable& run_clamp_inplace(const Variable& self, const optional<Scalar>& min, const optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  EBB_CHECK(dtype == self.dtype(), "clamp_: result type ", dtype,
            " can't be cast to the desired output type ", self.dtype(), ". Convert self first.");
  return run_unary_inplace(self, clamp_op(min, max), ClampRule<kind>{grad_op(min, max)});
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
  if (low && high) return run_ternary(self, *min, *max, ClampBetween(), ClampTensorRule());
  return low ? clamp_min(self, *min) : clamp_max(self, *max);
}
Variable& clamp_(const Variable& self, const optional<Variable>& min, const optional<Variable>& max) {
  const bool low = min && min->defined(), high = max && max->defined();
  check_bounds(low || high);
  if (low && high) return run_ternary_inplace(self, *min, *max, ClampBetween(), ClampTensorRule());
  return low ? clamp_min_(self, *min) : clamp_max_(self, *max);
}

}  // namespace ebb
