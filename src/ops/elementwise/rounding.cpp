// floor, ceil, trunc, round, frac.
#include "ops/elementwise/formulas/rounding.h"

#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

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
