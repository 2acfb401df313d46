// Powers: tensor to number, tensor to tensor, number to tensor.
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>

#include "ops/common/autocast.h"
#include "ops/elementwise/formulas/binary_math.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

// e x^(e-1); 0 for e = 0, also at x = 0.
struct PowScalarRule {
  static constexpr char kName[] = "PowBackward0";
  static constexpr Keep kKeep = Keep::input;
  Scalar exponent;
  Variable operator()(const Variable& g, const Variable& x) const {
    if (exponent.equal(0)) return zeros_like(g);
    if (exponent.equal(2)) return g * (x * 2);
    const double e = exponent.to_double();
    return g * (pow(x, e - 1) * e);
  }
};

// The gradient of x^e in e is x^e log x; at x = 0 and e >= 0 it is 0, where the formula gives NaN. There the
// base is replaced by 1, which keeps NaNs out of the derivatives of the formula.
Variable exponent_gradient(const Variable& g, const Variable& out, const Variable& base,
                           const Variable& dead) {
  return g * where(dead, 0.0, out * log(where(dead, 1.0, base)));
}

struct PowRule {
  static constexpr char kName[] = "PowBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB | kOut;
  // For e = 0 the gradient is 0, as the formula says, whose own derivative in e is g / x. Where that is no
  // number (x = 0, NaN), the 0 is a constant.
  Variable a(const Variable& g, const Kept<Variable>& k) const {
    const Variable dead = logical_and(k.b == 0.0, logical_and(isfinite(g), isfinite(1 / k.a)).logical_not());
    return where(dead, 0.0, g * (k.b * pow(where(dead, 1.0, k.a), k.b - 1)));
  }
  Variable b(const Variable& g, const Kept<Variable>& k) const {
    return exponent_gradient(g, k.out, k.a, logical_and(k.a == 0, k.b >= 0));
  }
};

struct PowBaseRule {
  static constexpr char kName[] = "PowBackward2";
  static constexpr unsigned kUsesA = kNone, kUsesB = kB | kOut;
  Scalar base;
  Variable a(const Variable&, const Kept<Variable>&) const { return {}; }
  Variable b(const Variable& g, const Kept<Variable>& k) const {
    if (base.equal(0)) return exponent_gradient(g, k.out, zeros_like(k.out), k.b >= 0);
    return g * (k.out * std::log(base.to_double()));
  }
};

// Calls run with the formula for x^exponent, and its second operand where it has one. The powers that models
// are made of need no pow(): products, and roots that are rounded correctly.
template <class Run>
decltype(auto) with_formula(DType dtype, const Scalar& exponent, Run&& run) {
  if (is_floating(dtype)) {
    if (exponent.equal(2)) return run(Square());
    if (exponent.equal(3)) return run(Cube());
    if (exponent.equal(0.5)) return run(Sqrt());
    if (exponent.equal(-1)) return run(Reciprocal());
    if (exponent.equal(-0.5)) return run(Rsqrt());
  }
  return run(Pow(), exponent);
}

void check_integers(DType base, const Scalar& exponent) {
  EBB_CHECK(!is_integral(base, true) || exponent.is_floating_point() || exponent.to_long() >= 0,
            "pow: Integers to negative integer powers are not allowed; convert the tensor to a floating "
            "dtype, got ",
            base, " to the power ", exponent, ".");
}

void check_double(const Variable& self) {
  EBB_CHECK(self.dtype() == kDouble, "float_power_: the result is Double and cannot be stored in ",
            self.dtype(), "; use float_power.");
}

}  // namespace

Variable pow(const Variable& self, const Scalar& exponent) {
  if (const auto cast = ops::autocast("pow", self)) [[unlikely]]
    return pow(cast(self), exponent);
  check_integers(self.dtype(), exponent);
  return with_formula(self.dtype(), exponent, [&](const auto& formula, const auto&... operand) -> Variable {
    return run_unary(self, formula, PowScalarRule{exponent}, operand...);
  });
}

Variable& pow_(const Variable& self, const Scalar& exponent) {
  check_integers(self.dtype(), exponent);
  return with_formula(self.dtype(), exponent, [&](const auto& formula, const auto&... operand) -> Variable& {
    return run_unary_inplace(self, formula, PowScalarRule{exponent}, operand...);
  });
}

Variable pow(const Variable& self, const Variable& exponent) {
  if (const auto cast = ops::autocast("pow", self, exponent)) [[unlikely]]
    return pow(cast(self), cast(exponent));
  return run_binary(self, exponent, Pow(), PowRule());
}
Variable& pow_(const Variable& self, const Variable& exponent) {
  return run_binary_inplace(self, exponent, Pow(), PowRule());
}

Variable pow(const Scalar& self, const Variable& exponent) {
  if (const auto cast = ops::autocast("pow", exponent)) [[unlikely]]
    return pow(self, cast(exponent));
  return run_binary(self, exponent, Pow(), PowBaseRule{self});
}

Variable float_power(const Variable& self, const Variable& exponent) {
  return pow(self.to(kDouble), exponent.to(kDouble));
}
Variable float_power(const Variable& self, const Scalar& exponent) {
  return pow(self.to(kDouble), exponent.to_double());
}
Variable float_power(const Scalar& self, const Variable& exponent) {
  return pow(Scalar(self.to_double()), exponent.to(kDouble));
}
Variable& float_power_(const Variable& self, const Variable& exponent) {
  check_double(self);
  return pow_(self, exponent.to(kDouble));
}
Variable& float_power_(const Variable& self, const Scalar& exponent) {
  check_double(self);
  return pow_(self, exponent.to_double());
}

}  // namespace ebb
