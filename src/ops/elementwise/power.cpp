// pow: tensor ** scalar, tensor ** tensor, scalar ** tensor.
#include "ops/elementwise/formulas/power.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "ops/common/autocast.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

// The rule of a derivative of pow of any order. Its gradients are the derivatives of the next order, with
// respect to a and to b.
struct PowDerivativeRule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  int by_base, by_exponent;
  static std::string name() { return node_name<PowDerivative>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return g * of(k.a, k.b, by_base + 1, by_exponent);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * of(k.a, k.b, by_base, by_exponent + 1);
  }
  template <class A, class B>
  static Variable of(const A& a, const B& b, int by_base, int by_exponent) {
    EBB_CHECK(by_base <= PowDerivative::kMostOrder && by_exponent <= PowDerivative::kMostOrder,
              "pow: expected derivatives of an order up to ", PowDerivative::kMostOrder,
              " in each operand, got ", by_base, " and ", by_exponent,
              ". Write the power as exp(exponent * log(base)).");
    return run_binary(a, b, PowDerivative{{}, by_base, by_exponent}, PowDerivativeRule{by_base, by_exponent});
  }
};

// Calls run(formula) with the formula of x^exponent, or run(formula, operand) if the formula has a second
// operand. Exponents that are common in models do not need pow(): their formulas are products, or square
// roots that are rounded correctly.
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

bool is_plain(const Scalar& exponent) {
  return with_formula(kDouble, exponent,
                      [](const auto&, const auto&... operand) { return sizeof...(operand) == 0; });
}

// The gradient of x^e: g e x^(e-1). It is 0 for e = 0, also at x = 0.
struct PowScalarRule {
  static constexpr char kName[] = "PowBackward0";
  static constexpr Saves kSaves = Saves::input;
  Scalar exponent;
  Variable operator()(const Variable& g, const Variable& x) const {
    if (exponent.equal(0)) return zeros_like(g);
    if (exponent.equal(2)) return g * (x * 2);
    const double e = exponent.to_double();
    // For a few exponents pow() computes x^(e-1) without the kernel of PowDerivativeRule and its special
    // cases. For e = 0.5 the second derivative needs these cases.
    const bool root = e == 0.5 && autograd::records(g, x);
    if ((is_plain(e - 1) && !root) || (e >= 1 && e <= 3 && e * 4 == std::trunc(e * 4)))
      return g * (pow(x, e - 1) * e);
    return g * PowDerivativeRule::of(x, exponent, 1, 0);
  }
};

struct PowRule {
  static constexpr char kName[] = "PowBackward1";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  // For an exponent of 0 the gradient is 0, even if g is infinite or NaN.
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    const Variable dead = logical_and(k.b == 0.0, isfinite(g).logical_not());
    return where(dead, 0.0, g * PowDerivativeRule::of(k.a, k.b, 1, 0));
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * PowDerivativeRule::of(k.a, k.b, 0, 1);
  }
};

// The rule of PowBaseDerivative: log(base) base^e, computed from the power base^e. The rule only has a
// gradient for the power; the gradient of e then follows from the node of the power.
struct PowBaseDerivativeRule {
  static constexpr unsigned kUsesA = kNone, kUsesB = kNone;
  Scalar base;
  static std::string name() { return node_name<PowBaseDerivative>(); }
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return g * std::log(base.to_double()); }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return zeros_like(g); }
};
struct PowBaseRule {
  static constexpr char kName[] = "PowBackward2";
  static constexpr unsigned kUsesA = kNone, kUsesB = kB | kOut;
  Scalar base;
  Variable a(const Variable&, const SavedValues<Variable>&) const { return {}; }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    const Number logarithm(Scalar(std::log(base.to_double())));
    return g * run_binary(k.out, k.b, PowBaseDerivative{{}, base, logarithm}, PowBaseDerivativeRule{base});
  }
};
// The rule of base^e if its derivative log(base) base^e cannot be computed from the power: a power in 16 bits
// has lost too many digits, and for base 0 the product may be NaN.
struct PowLossyBaseRule {
  static constexpr char kName[] = "PowBackward2";
  static constexpr unsigned kUsesA = kNone, kUsesB = kB;
  Scalar base;
  Variable a(const Variable&, const SavedValues<Variable>&) const { return {}; }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * PowDerivativeRule::of(base, k.b, 0, 1);
  }
};

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
  EBB_AUTOCAST(pow, self, exponent);
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
  EBB_AUTOCAST(pow, self, exponent);
  return run_binary(self, exponent, Pow(), PowRule());
}
Variable& pow_(const Variable& self, const Variable& exponent) {
  return run_binary_inplace(self, exponent, Pow(), PowRule());
}

Variable pow(const Scalar& self, const Variable& exponent) {
  EBB_AUTOCAST(pow, self, exponent);
  if (exponent.defined() && (self.equal(0) || exponent.dtype() == kHalf || exponent.dtype() == kBFloat16))
    return run_binary(self, exponent, Pow(), PowLossyBaseRule{self});
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
