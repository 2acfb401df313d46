// abs, neg, sign, sgn, and deg2rad and rad2deg.
#include "ops/elementwise/formulas/sign.h"

#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

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

}  // namespace ebb
