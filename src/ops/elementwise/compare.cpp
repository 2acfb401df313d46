// Comparisons, logical ops and bitwise ops.
#include "ops/elementwise/formulas/compare.h"

#include <ebb/ops/elementwise.h>

#include "ops/common/checks.h"
#include "ops/elementwise/formulas/logic.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {

using namespace ops;

Variable eq(const Variable& self, const Variable& other) { return run_plain<Eq>(self, other); }
Variable& eq_(const Variable& self, const Variable& other) { return run_plain_inplace<Eq>(self, other); }
Variable eq(const Variable& self, const Scalar& other) { return run_plain<Eq>(self, other); }
Variable& eq_(const Variable& self, const Scalar& other) { return run_plain_inplace<Eq>(self, other); }
Variable ne(const Variable& self, const Variable& other) { return run_plain<Ne>(self, other); }
Variable& ne_(const Variable& self, const Variable& other) { return run_plain_inplace<Ne>(self, other); }
Variable ne(const Variable& self, const Scalar& other) { return run_plain<Ne>(self, other); }
Variable& ne_(const Variable& self, const Scalar& other) { return run_plain_inplace<Ne>(self, other); }
Variable lt(const Variable& self, const Variable& other) { return run_plain<Lt>(self, other); }
Variable& lt_(const Variable& self, const Variable& other) { return run_plain_inplace<Lt>(self, other); }
Variable lt(const Variable& self, const Scalar& other) { return run_plain<Lt>(self, other); }
Variable& lt_(const Variable& self, const Scalar& other) { return run_plain_inplace<Lt>(self, other); }
Variable le(const Variable& self, const Variable& other) { return run_plain<Le>(self, other); }
Variable& le_(const Variable& self, const Variable& other) { return run_plain_inplace<Le>(self, other); }
Variable le(const Variable& self, const Scalar& other) { return run_plain<Le>(self, other); }
Variable& le_(const Variable& self, const Scalar& other) { return run_plain_inplace<Le>(self, other); }
Variable gt(const Variable& self, const Variable& other) { return run_plain<Gt>(self, other); }
Variable& gt_(const Variable& self, const Variable& other) { return run_plain_inplace<Gt>(self, other); }
Variable gt(const Variable& self, const Scalar& other) { return run_plain<Gt>(self, other); }
Variable& gt_(const Variable& self, const Scalar& other) { return run_plain_inplace<Gt>(self, other); }
Variable ge(const Variable& self, const Variable& other) { return run_plain<Ge>(self, other); }
Variable& ge_(const Variable& self, const Variable& other) { return run_plain_inplace<Ge>(self, other); }
Variable ge(const Variable& self, const Scalar& other) { return run_plain<Ge>(self, other); }
Variable& ge_(const Variable& self, const Scalar& other) { return run_plain_inplace<Ge>(self, other); }

Variable logical_and(const Variable& self, const Variable& other) {
  return run_plain<LogicalAnd>(self, other);
}
Variable& logical_and_(const Variable& self, const Variable& other) {
  return run_plain_inplace<LogicalAnd>(self, other);
}
Variable logical_or(const Variable& self, const Variable& other) { return run_plain<LogicalOr>(self, other); }
Variable& logical_or_(const Variable& self, const Variable& other) {
  return run_plain_inplace<LogicalOr>(self, other);
}
Variable logical_xor(const Variable& self, const Variable& other) {
  return run_plain<LogicalXor>(self, other);
}
Variable& logical_xor_(const Variable& self, const Variable& other) {
  return run_plain_inplace<LogicalXor>(self, other);
}

Variable bitwise_and(const Variable& self, const Variable& other) {
  return run_plain<BitwiseAnd>(self, other);
}
Variable& bitwise_and_(const Variable& self, const Variable& other) {
  return run_plain_inplace<BitwiseAnd>(self, other);
}
Variable bitwise_and(const Variable& self, const Scalar& other) { return run_plain<BitwiseAnd>(self, other); }
Variable& bitwise_and_(const Variable& self, const Scalar& other) {
  return run_plain_inplace<BitwiseAnd>(self, other);
}
Variable bitwise_and(const Scalar& self, const Variable& other) { return run_plain<BitwiseAnd>(self, other); }
Variable bitwise_or(const Variable& self, const Variable& other) { return run_plain<BitwiseOr>(self, other); }
Variable& bitwise_or_(const Variable& self, const Variable& other) {
  return run_plain_inplace<BitwiseOr>(self, other);
}
Variable bitwise_or(const Variable& self, const Scalar& other) { return run_plain<BitwiseOr>(self, other); }
Variable& bitwise_or_(const Variable& self, const Scalar& other) {
  return run_plain_inplace<BitwiseOr>(self, other);
}
Variable bitwise_or(const Scalar& self, const Variable& other) { return run_plain<BitwiseOr>(self, other); }
Variable bitwise_xor(const Variable& self, const Variable& other) {
  return run_plain<BitwiseXor>(self, other);
}
Variable& bitwise_xor_(const Variable& self, const Variable& other) {
  return run_plain_inplace<BitwiseXor>(self, other);
}
Variable bitwise_xor(const Variable& self, const Scalar& other) { return run_plain<BitwiseXor>(self, other); }
Variable& bitwise_xor_(const Variable& self, const Scalar& other) {
  return run_plain_inplace<BitwiseXor>(self, other);
}
Variable bitwise_xor(const Scalar& self, const Variable& other) { return run_plain<BitwiseXor>(self, other); }
Variable gcd(const Variable& self, const Variable& other) { return run_plain<Gcd>(self, other); }
Variable& gcd_(const Variable& self, const Variable& other) { return run_plain_inplace<Gcd>(self, other); }
Variable lcm(const Variable& self, const Variable& other) { return run_plain<Lcm>(self, other); }
Variable& lcm_(const Variable& self, const Variable& other) { return run_plain_inplace<Lcm>(self, other); }
Variable bitwise_left_shift(const Variable& self, const Variable& other) {
  return run_plain<ShiftLeft>(self, other);
}
Variable& bitwise_left_shift_(const Variable& self, const Variable& other) {
  return run_plain_inplace<ShiftLeft>(self, other);
}
Variable bitwise_left_shift(const Variable& self, const Scalar& other) {
  return run_plain<ShiftLeft>(self, other);
}
Variable& bitwise_left_shift_(const Variable& self, const Scalar& other) {
  return run_plain_inplace<ShiftLeft>(self, other);
}
Variable bitwise_left_shift(const Scalar& self, const Variable& other) {
  return run_plain<ShiftLeft>(self, other);
}
Variable bitwise_right_shift(const Variable& self, const Variable& other) {
  return run_plain<ShiftRight>(self, other);
}
Variable& bitwise_right_shift_(const Variable& self, const Variable& other) {
  return run_plain_inplace<ShiftRight>(self, other);
}
Variable bitwise_right_shift(const Variable& self, const Scalar& other) {
  return run_plain<ShiftRight>(self, other);
}
Variable& bitwise_right_shift_(const Variable& self, const Scalar& other) {
  return run_plain_inplace<ShiftRight>(self, other);
}
Variable bitwise_right_shift(const Scalar& self, const Variable& other) {
  return run_plain<ShiftRight>(self, other);
}

Variable isclose(const Variable& self, const Variable& other, double rtol, double atol, bool equal_nan) {
  check_same_dtype("isclose", self, other);
  EBB_CHECK(rtol >= 0 && atol >= 0, "isclose: rtol and atol must not be negative, got ", rtol, " and ", atol,
            ".");
  return run_plain(self, other, IsClose{{}, rtol, atol, equal_nan, self.dtype()});
}

bool allclose(const Variable& self, const Variable& other, double rtol, double atol, bool equal_nan) {
  return all_true(isclose(self, other, rtol, atol, equal_nan));
}

bool equal(const Variable& self, const Variable& other) {
  if (self.sizes() != other.sizes()) return false;
  check_same_dtype("equal", self, other);
  return all_true(eq(self, other));
}

}  // namespace ebb
