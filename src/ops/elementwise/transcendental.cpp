// Exponentials, logarithms and roots; trigonometric and hyperbolic functions and their inverses.
#include "ops/common/autocast.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/trigonometric.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

Variable exp(const Variable& self) {
  EBB_AUTOCAST(exp, self);
  return unary<Exp>(self);
}
Variable& exp_(const Variable& self) { return unary_inplace<Exp>(self); }
Variable exp2(const Variable& self) { return unary<Exp2>(self); }
Variable& exp2_(const Variable& self) { return unary_inplace<Exp2>(self); }
Variable expm1(const Variable& self) {
  EBB_AUTOCAST(expm1, self);
  return unary<Expm1>(self);
}
Variable& expm1_(const Variable& self) { return unary_inplace<Expm1>(self); }
Variable log(const Variable& self) {
  EBB_AUTOCAST(log, self);
  return unary<Log>(self);
}
Variable& log_(const Variable& self) { return unary_inplace<Log>(self); }
Variable log2(const Variable& self) {
  EBB_AUTOCAST(log2, self);
  return unary<Log2>(self);
}
Variable& log2_(const Variable& self) { return unary_inplace<Log2>(self); }
Variable log10(const Variable& self) {
  EBB_AUTOCAST(log10, self);
  return unary<Log10>(self);
}
Variable& log10_(const Variable& self) { return unary_inplace<Log10>(self); }
Variable log1p(const Variable& self) {
  EBB_AUTOCAST(log1p, self);
  return unary<Log1p>(self);
}
Variable& log1p_(const Variable& self) { return unary_inplace<Log1p>(self); }
Variable sqrt(const Variable& self) { return unary<Sqrt>(self); }
Variable& sqrt_(const Variable& self) { return unary_inplace<Sqrt>(self); }
Variable rsqrt(const Variable& self) {
  EBB_AUTOCAST(rsqrt, self);
  return unary<Rsqrt>(self);
}
Variable& rsqrt_(const Variable& self) { return unary_inplace<Rsqrt>(self); }
Variable reciprocal(const Variable& self) {
  EBB_AUTOCAST(reciprocal, self);
  return unary<Reciprocal>(self);
}
Variable& reciprocal_(const Variable& self) { return unary_inplace<Reciprocal>(self); }

Variable square(const Variable& self) { return self.dtype() == kBool ? pow(self, 2) : unary<Square>(self); }
Variable& square_(const Variable& self) {
  return self.dtype() == kBool ? pow_(self, 2) : unary_inplace<Square>(self);
}

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
