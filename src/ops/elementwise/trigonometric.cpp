// Trigonometric and hyperbolic functions, and their inverses.
#include "ops/elementwise/formulas/trigonometric.h"

#include "ops/common/autocast.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

Variable sin(const Variable& self) { return unary<Sin>(self); }
Variable& sin_(const Variable& self) { return unary_inplace<Sin>(self); }
Variable cos(const Variable& self) { return unary<Cos>(self); }
Variable& cos_(const Variable& self) { return unary_inplace<Cos>(self); }
Variable tan(const Variable& self) {
  EBB_AUTOCAST(tan, self);
  return unary<Tan>(self);
}
Variable& tan_(const Variable& self) { return unary_inplace<Tan>(self); }
Variable asin(const Variable& self) {
  EBB_AUTOCAST(asin, self);
  return unary<Asin>(self);
}
Variable& asin_(const Variable& self) { return unary_inplace<Asin>(self); }
Variable acos(const Variable& self) {
  EBB_AUTOCAST(acos, self);
  return unary<Acos>(self);
}
Variable& acos_(const Variable& self) { return unary_inplace<Acos>(self); }
Variable atan(const Variable& self) { return unary<Atan>(self); }
Variable& atan_(const Variable& self) { return unary_inplace<Atan>(self); }
Variable sinh(const Variable& self) {
  EBB_AUTOCAST(sinh, self);
  return unary<Sinh>(self);
}
Variable& sinh_(const Variable& self) { return unary_inplace<Sinh>(self); }
Variable cosh(const Variable& self) {
  EBB_AUTOCAST(cosh, self);
  return unary<Cosh>(self);
}
Variable& cosh_(const Variable& self) { return unary_inplace<Cosh>(self); }
Variable asinh(const Variable& self) { return unary<Asinh>(self); }
Variable& asinh_(const Variable& self) { return unary_inplace<Asinh>(self); }
Variable acosh(const Variable& self) { return unary<Acosh>(self); }
Variable& acosh_(const Variable& self) { return unary_inplace<Acosh>(self); }
Variable atanh(const Variable& self) { return unary<Atanh>(self); }
Variable& atanh_(const Variable& self) { return unary_inplace<Atanh>(self); }

}  // namespace ebb
