// frexp and nextafter.
#include "ops/elementwise/formulas/parts.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/elementwise/parts.h>

#include "ops/common/checks.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

struct FrexpRule {
  static constexpr char kName[] = "FrexpBackward0";
  static constexpr Saves kSaves = Saves::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return g / exp2(Variable(apply(FrexpExponent(), x)));
  }
};

// The rule of nextafter. Where self differs from other, the gradient of self is g, because the result changes
// with self. Where they are equal, the result is `other` and the gradient is zero.
struct NextAfterRule {
  static constexpr char kName[] = "NextafterBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kNone;
  Variable a(const Variable& g, const SavedValues<Variable>& k) const { return where(k.a != k.b, g, 0); }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return zeros_like(g); }
};

NextAfter next_after(const char* op, const Variable& self, const Variable& other) {
  check_defined(op, self);
  check_defined(op, other);
  const DType type = result_type(self, other);
  EBB_CHECK(is_floating(type), op, ": expected a floating-point dtype, got ", self.dtype(), " and ",
            other.dtype(), ". Convert one with .to(kFloat).");
  if (type == kHalf) return {{}, 11, -14};
  if (type == kBFloat16) return {{}, 8, -126};
  return {};
}

}  // namespace

std::tuple<Variable, Variable> frexp(const Variable& self) {
  Variable mantissa = run_unary(self, FrexpMantissa(), FrexpRule());
  return {std::move(mantissa), Variable(apply(FrexpExponent(), self)).to(kInt)};
}

Variable nextafter(const Variable& self, const Variable& other) {
  return run_binary(self, other, next_after("nextafter", self, other), NextAfterRule());
}
Variable& nextafter_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, next_after("nextafter_", self, other), NextAfterRule());
}

Variable isreal(const Variable& self) {
  check_defined("isreal", self);
  return ones_like(self, kBool);
}

}  // namespace ebb
