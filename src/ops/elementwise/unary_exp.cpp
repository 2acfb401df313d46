// Exponentials, logarithms, roots and powers of one tensor.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_activation.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402;

struct ExpRule {
  static constexpr char kName[] = "ExpBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g * y; }
};
struct Exp2Rule {
  static constexpr char kName[] = "Exp2Backward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g * y * kLn2; }
};
struct Expm1Rule {
  static constexpr char kName[] = "Expm1Backward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g * (y + 1); }
};
struct LogRule {
  static constexpr char kName[] = "LogBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / x; }
};
struct Log2Rule {
  static constexpr char kName[] = "Log2Backward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / (x * kLn2); }
};
struct Log10Rule {
  static constexpr char kName[] = "Log10Backward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / (x * kLn10); }
};
struct Log1pRule {
  static constexpr char kName[] = "Log1PBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g / (x + 1); }
};
struct SqrtRule {
  static constexpr char kName[] = "SqrtBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g / (y * 2); }
};
struct RsqrtRule {
  static constexpr char kName[] = "RsqrtBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return g * -0.5 * pow(y, 3); }
};
struct ReciprocalRule {
  static constexpr char kName[] = "ReciprocalBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return neg(g) * (y * y); }
};
struct SquareRule {
  static constexpr char kName[] = "PowBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * (x * 2); }
};

// The gradient of sigmoid from its result y: one pass, differentiable in both operands.
struct SigmoidGradRule {
  static constexpr char kName[] = "SigmoidBackwardBackward0";
  static constexpr unsigned kUsesA = kB, kUsesB = kA | kB;
  static Variable gradient(const Variable& g, const Variable& y) {
    return run_binary(g, y, SigmoidGrad(), SigmoidGradRule());
  }
  Variable a(const Variable& gg, const Kept& k) const { return gradient(gg, k.b); }
  Variable b(const Variable& gg, const Kept& k) const { return gg * k.a * (1 - k.b * 2); }
};
struct SigmoidRule {
  static constexpr char kName[] = "SigmoidBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const { return SigmoidGradRule::gradient(g, y); }
};

}  // namespace

Variable exp(const Variable& self) { return run_unary(self, Exp(), ExpRule()); }
Variable& exp_(const Variable& self) { return run_unary_inplace(self, Exp(), ExpRule()); }
Variable exp2(const Variable& self) { return run_unary(self, Exp2(), Exp2Rule()); }
Variable& exp2_(const Variable& self) { return run_unary_inplace(self, Exp2(), Exp2Rule()); }
Variable expm1(const Variable& self) { return run_unary(self, Expm1(), Expm1Rule()); }
Variable& expm1_(const Variable& self) { return run_unary_inplace(self, Expm1(), Expm1Rule()); }
Variable log(const Variable& self) { return run_unary(self, Log(), LogRule()); }
Variable& log_(const Variable& self) { return run_unary_inplace(self, Log(), LogRule()); }
Variable log2(const Variable& self) { return run_unary(self, Log2(), Log2Rule()); }
Variable& log2_(const Variable& self) { return run_unary_inplace(self, Log2(), Log2Rule()); }
Variable log10(const Variable& self) { return run_unary(self, Log10(), Log10Rule()); }
Variable& log10_(const Variable& self) { return run_unary_inplace(self, Log10(), Log10Rule()); }
Variable log1p(const Variable& self) { return run_unary(self, Log1p(), Log1pRule()); }
Variable& log1p_(const Variable& self) { return run_unary_inplace(self, Log1p(), Log1pRule()); }
Variable sqrt(const Variable& self) { return run_unary(self, Sqrt(), SqrtRule()); }
Variable& sqrt_(const Variable& self) { return run_unary_inplace(self, Sqrt(), SqrtRule()); }
Variable rsqrt(const Variable& self) { return run_unary(self, Rsqrt(), RsqrtRule()); }
Variable& rsqrt_(const Variable& self) { return run_unary_inplace(self, Rsqrt(), RsqrtRule()); }
Variable reciprocal(const Variable& self) { return run_unary(self, Reciprocal(), ReciprocalRule()); }
Variable& reciprocal_(const Variable& self) {
  return run_unary_inplace(self, Reciprocal(), ReciprocalRule());
}
Variable square(const Variable& self) {
  return self.dtype() == kBool ? pow(self, 2) : run_unary(self, Square(), SquareRule());
}
Variable& square_(const Variable& self) {
  return self.dtype() == kBool ? pow_(self, 2) : run_unary_inplace(self, Square(), SquareRule());
}
Variable sigmoid(const Variable& self) { return run_unary(self, Sigmoid(), SigmoidRule()); }
Variable& sigmoid_(const Variable& self) { return run_unary_inplace(self, Sigmoid(), SigmoidRule()); }

}  // namespace ebb
