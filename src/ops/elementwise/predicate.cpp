// isnan, isinf, isfinite, signbit, logical_not, bitwise_not and nan_to_num.
#include "ops/elementwise/formulas/predicate.h"

#include "ops/common/checks.h"
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

}  // namespace ebb
