// isnan, isinf, isfinite, signbit, logical_not, bitwise_not, nan_to_num, abs, neg, sign, sgn, deg2rad,
// rad2deg, floor, ceil, trunc, round and frac.
#include "ops/elementwise/formulas/sign_and_rounding.h"

#include "ops/common/checks.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

static NanToNum nan_op(DType dtype, optional<double> nan, optional<double> posinf, optional<double> neginf) {
  const double largest = largest_of(dtype);
  return {{}, nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
}

Variable isnan(const Variable& self) { return unary<IsNan>(self); }
Variable isinf(const Variable& self) { return unary<IsInf>(self); }
Variable isfinite(const Variable& self) { return unary<IsFinite>(self); }
Variable isposinf(const Variable& self) { return unary<IsPosInf>(self); }
Variable isneginf(const Variable& self) { return unary<IsNegInf>(self); }
Variable signbit(const Variable& self) { return unary<Signbit>(self); }
Variable logical_not(const Variable& self) { return unary<LogicalNot>(self); }
Variable& logical_not_(const Variable& self) { return unary_inplace<LogicalNot>(self); }
Variable bitwise_not(const Variable& self) { return unary<BitwiseNot>(self); }
Variable& bitwise_not_(const Variable& self) { return unary_inplace<BitwiseNot>(self); }

Variable nan_to_num(const Variable& self, optional<double> nan, optional<double> posinf,
                    optional<double> neginf) {
  return unary(self, nan_op(self.dtype(), nan, posinf, neginf));
}
Variable& nan_to_num_(const Variable& self, optional<double> nan, optional<double> posinf,
                      optional<double> neginf) {
  return unary_inplace(self, nan_op(self.dtype(), nan, posinf, neginf));
}

static void check_negatable(const char* op, const Variable& x) {
  EBB_CHECK(x.dtype() != kBool, op,
            ": the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` "
            "or `logical_not()` operator instead.");
}

Variable abs(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool, "abs: not defined for Bool; convert the tensor first.");
  return unary<Abs>(self);
}
Variable& abs_(const Variable& self) { return unary_inplace<Abs>(self); }
Variable neg(const Variable& self) {
  check_negatable("neg: Negation", self);
  return unary<Neg>(self);
}
Variable& neg_(const Variable& self) {
  check_negatable("neg_: Negation", self);
  return unary_inplace<Neg>(self);
}
Variable positive(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool,
            "positive: the `+` operator is not defined for Bool; convert the tensor first.");
  return self;
}
Variable sign(const Variable& self) { return unary<Sign>(self); }
Variable& sign_(const Variable& self) { return unary_inplace<Sign>(self); }
Variable sgn(const Variable& self) { return unary<Sgn>(self); }
Variable& sgn_(const Variable& self) { return unary_inplace<Sgn>(self); }
Variable deg2rad(const Variable& self) { return unary<Deg2Rad>(self); }
Variable& deg2rad_(const Variable& self) { return unary_inplace<Deg2Rad>(self); }
Variable rad2deg(const Variable& self) { return unary<Rad2Deg>(self); }
Variable& rad2deg_(const Variable& self) { return unary_inplace<Rad2Deg>(self); }

Variable floor(const Variable& self) { return unary<Floor>(self); }
Variable& floor_(const Variable& self) { return unary_inplace<Floor>(self); }
Variable ceil(const Variable& self) { return unary<Ceil>(self); }
Variable& ceil_(const Variable& self) { return unary_inplace<Ceil>(self); }
Variable round(const Variable& self) { return unary<Round>(self); }
Variable& round_(const Variable& self) { return unary_inplace<Round>(self); }
Variable trunc(const Variable& self) { return unary<Trunc>(self); }
Variable& trunc_(const Variable& self) { return unary_inplace<Trunc>(self); }
Variable frac(const Variable& self) { return unary<Frac>(self); }
Variable& frac_(const Variable& self) { return unary_inplace<Frac>(self); }

static RoundDecimals to_decimals(std::int64_t decimals) {
  return {{}, std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals)), decimals < 0};
}
Variable round(const Variable& self, std::int64_t decimals) {
  return decimals ? unary(self, to_decimals(decimals)) : round(self);
}
Variable& round_(const Variable& self, std::int64_t decimals) {
  return decimals ? unary_inplace(self, to_decimals(decimals)) : round_(self);
}

}  // namespace ebb
