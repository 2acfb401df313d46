// Exponentials, logarithms and roots.
#include "ops/elementwise/formulas/exponential.h"
#include "ops/common/autocast.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

Variable exp(const Variable& self) {
  if (const auto cast = ops::autocast("exp", self)) [[unlikely]]
    return exp(cast(self));
  return unary<Exp>(self);
}
Variable& exp_(const Variable& self) { return unary_inplace<Exp>(self); }
Variable exp2(const Variable& self) { return unary<Exp2>(self); }
Variable& exp2_(const Variable& self) { return unary_inplace<Exp2>(self); }
Variable expm1(const Variable& self) {
  if (const auto cast = ops::autocast("expm1", self)) [[unlikely]]
    return expm1(cast(self));
  return unary<Expm1>(self);
}
Variable& expm1_(const Variable& self) { return unary_inplace<Expm1>(self); }
Variable log(const Variable& self) {
  if (const auto cast = ops::autocast("log", self)) [[unlikely]]
    return log(cast(self));
  return unary<Log>(self);
}
Variable& log_(const Variable& self) { return unary_inplace<Log>(self); }
Variable log2(const Variable& self) {
  if (const auto cast = ops::autocast("log2", self)) [[unlikely]]
    return log2(cast(self));
  return unary<Log2>(self);
}
Variable& log2_(const Variable& self) { return unary_inplace<Log2>(self); }
Variable log10(const Variable& self) {
  if (const auto cast = ops::autocast("log10", self)) [[unlikely]]
    return log10(cast(self));
  return unary<Log10>(self);
}
Variable& log10_(const Variable& self) { return unary_inplace<Log10>(self); }
Variable log1p(const Variable& self) {
  if (const auto cast = ops::autocast("log1p", self)) [[unlikely]]
    return log1p(cast(self));
  return unary<Log1p>(self);
}
Variable& log1p_(const Variable& self) { return unary_inplace<Log1p>(self); }
Variable sqrt(const Variable& self) { return unary<Sqrt>(self); }
Variable& sqrt_(const Variable& self) { return unary_inplace<Sqrt>(self); }
Variable rsqrt(const Variable& self) {
  if (const auto cast = ops::autocast("rsqrt", self)) [[unlikely]]
    return rsqrt(cast(self));
  return unary<Rsqrt>(self);
}
Variable& rsqrt_(const Variable& self) { return unary_inplace<Rsqrt>(self); }
Variable reciprocal(const Variable& self) {
  if (const auto cast = ops::autocast("reciprocal", self)) [[unlikely]]
    return reciprocal(cast(self));
  return unary<Reciprocal>(self);
}
Variable& reciprocal_(const Variable& self) { return unary_inplace<Reciprocal>(self); }

Variable square(const Variable& self) { return self.dtype() == kBool ? pow(self, 2) : unary<Square>(self); }
Variable& square_(const Variable& self) {
  return self.dtype() == kBool ? pow_(self, 2) : unary_inplace<Square>(self);
}

}  // namespace ebb
