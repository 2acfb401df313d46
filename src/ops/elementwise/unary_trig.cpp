// Trigonometric and hyperbolic functions.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_binary.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

// g F(x): in one pass while nothing records, else from ops that do.
template <class F>
Variable times(const Variable& g, const Variable& x, Variable (*f)(const Variable&)) {
  if (autograd::records(g, x)) return g * f(x);
  return run_plain(g, x, Times<F>());
}

struct SinRule {
  static constexpr char kName[] = "SinBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return times<Cos>(g, x, &cos); }
};
struct CosRule {
  static constexpr char kName[] = "CosBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return neg(times<Sin>(g, x, &sin)); }
};
struct TanRule {
  static constexpr char kName[] = "TanBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g * (y * y + 1); }
};
struct AsinRule {
  static constexpr char kName[] = "AsinBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * rsqrt(1 - x * x); }
};
struct AcosRule {
  static constexpr char kName[] = "AcosBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return neg(g) * rsqrt(1 - x * x); }
};
struct AtanRule {
  static constexpr char kName[] = "AtanBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / (x * x + 1); }
};
struct SinhRule {
  static constexpr char kName[] = "SinhBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * cosh(x); }
};
struct CoshRule {
  static constexpr char kName[] = "CoshBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * sinh(x); }
};

// The gradient of tanh from its result y: one pass, differentiable in both operands.
struct TanhGradRule {
  static constexpr char kName[] = "TanhBackwardBackward0";
  static constexpr unsigned kUsesA = kB, kUsesB = kA | kB;
  static Variable gradient(const Variable& g, const Variable& y) {
    return run_binary(g, y, TanhGrad(), TanhGradRule());
  }
  Variable a(const Variable& gg, const Kept& k) const { return gradient(gg, k.b); }
  Variable b(const Variable& gg, const Kept& k) const { return gg * k.a * k.b * -2; }
};
struct TanhRule {
  static constexpr char kName[] = "TanhBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return TanhGradRule::gradient(g, y); }
};
struct AsinhRule {
  static constexpr char kName[] = "AsinhBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * rsqrt(x * x + 1); }
};
struct AcoshRule {
  static constexpr char kName[] = "AcoshBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * rsqrt(x - 1) * rsqrt(x + 1); }
};
struct AtanhRule {
  static constexpr char kName[] = "AtanhBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / (1 - x * x); }
};

}  // namespace

Variable sin(const Variable& self) { return run_unary(self, Sin(), SinRule()); }
Variable& sin_(const Variable& self) { return run_unary_inplace(self, Sin(), SinRule()); }
Variable cos(const Variable& self) { return run_unary(self, Cos(), CosRule()); }
Variable& cos_(const Variable& self) { return run_unary_inplace(self, Cos(), CosRule()); }
Variable tan(const Variable& self) { return run_unary(self, Tan(), TanRule()); }
Variable& tan_(const Variable& self) { return run_unary_inplace(self, Tan(), TanRule()); }
Variable asin(const Variable& self) { return run_unary(self, Asin(), AsinRule()); }
Variable& asin_(const Variable& self) { return run_unary_inplace(self, Asin(), AsinRule()); }
Variable acos(const Variable& self) { return run_unary(self, Acos(), AcosRule()); }
Variable& acos_(const Variable& self) { return run_unary_inplace(self, Acos(), AcosRule()); }
Variable atan(const Variable& self) { return run_unary(self, Atan(), AtanRule()); }
Variable& atan_(const Variable& self) { return run_unary_inplace(self, Atan(), AtanRule()); }
Variable sinh(const Variable& self) { return run_unary(self, Sinh(), SinhRule()); }
Variable& sinh_(const Variable& self) { return run_unary_inplace(self, Sinh(), SinhRule()); }
Variable cosh(const Variable& self) { return run_unary(self, Cosh(), CoshRule()); }
Variable& cosh_(const Variable& self) { return run_unary_inplace(self, Cosh(), CoshRule()); }
Variable tanh(const Variable& self) { return run_unary(self, Tanh(), TanhRule()); }
Variable& tanh_(const Variable& self) { return run_unary_inplace(self, Tanh(), TanhRule()); }
Variable asinh(const Variable& self) { return run_unary(self, Asinh(), AsinhRule()); }
Variable& asinh_(const Variable& self) { return run_unary_inplace(self, Asinh(), AsinhRule()); }
Variable acosh(const Variable& self) { return run_unary(self, Acosh(), AcoshRule()); }
Variable& acosh_(const Variable& self) { return run_unary_inplace(self, Acosh(), AcoshRule()); }
Variable atanh(const Variable& self) { return run_unary(self, Atanh(), AtanhRule()); }
Variable& atanh_(const Variable& self) { return run_unary_inplace(self, Atanh(), AtanhRule()); }

}  // namespace ebb
