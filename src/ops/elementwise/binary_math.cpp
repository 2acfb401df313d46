// Extremes, angles, and sums of logarithms of two tensors.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_binary.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

// Half of the gradient each at a tie, none to the loser; NaN ties with nothing and loses nothing.
Variable winner_gradient(const Variable& g, const Variable& tie, const Variable& lost) {
  return where(lost, 0, where(tie, g / 2, g));
}

struct MaximumRule {
  static constexpr char kName[] = "MaximumBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return winner_gradient(g, k.a == k.b, k.a < k.b); }
  Variable b(const Variable& g, const Kept& k) const { return winner_gradient(g, k.a == k.b, k.a > k.b); }
};
struct MinimumRule {
  static constexpr char kName[] = "MinimumBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return winner_gradient(g, k.a == k.b, k.a > k.b); }
  Variable b(const Variable& g, const Kept& k) const { return winner_gradient(g, k.a == k.b, k.a < k.b); }
};
struct FmaxRule {
  static constexpr char kName[] = "FmaxBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static Variable first(const Kept& k) { return logical_or(k.a >= k.b, isnan(k.b)); }
  Variable a(const Variable& g, const Kept& k) const { return where(first(k), g, 0); }
  Variable b(const Variable& g, const Kept& k) const { return where(first(k), 0, g); }
};
struct FminRule {
  static constexpr char kName[] = "FminBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static Variable first(const Kept& k) { return logical_or(k.a <= k.b, isnan(k.b)); }
  Variable a(const Variable& g, const Kept& k) const { return where(first(k), g, 0); }
  Variable b(const Variable& g, const Kept& k) const { return where(first(k), 0, g); }
};

struct Atan2Rule {
  static constexpr char kName[] = "Atan2Backward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static Variable scale(const Kept& k) { return reciprocal(k.a * k.a + k.b * k.b); }
  Variable a(const Variable& g, const Kept& k) const { return g * k.b * scale(k); }
  Variable b(const Variable& g, const Kept& k) const { return g * neg(k.a) * scale(k); }
};
struct HypotRule {
  static constexpr char kName[] = "HypotBackward0";
  static constexpr unsigned kUsesA = kA | kOut, kUsesB = kB | kOut;
  Variable a(const Variable& g, const Kept& k) const { return g * (k.a / k.out); }
  Variable b(const Variable& g, const Kept& k) const { return g * (k.b / k.out); }
};
struct LogAddExpRule {
  static constexpr char kName[] = "LogaddexpBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return g / (exp(k.b - k.a) + 1); }
  Variable b(const Variable& g, const Kept& k) const { return g / (exp(k.a - k.b) + 1); }
};
struct LogAddExp2Rule {
  static constexpr char kName[] = "Logaddexp2Backward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return g / (exp2(k.b - k.a) + 1); }
  Variable b(const Variable& g, const Kept& k) const { return g / (exp2(k.a - k.b) + 1); }
};

// d/da a log b = log b; where a = 0 and b <= 0 the op is 0 all around, and so is its gradient.
template <class B>
Variable xlogy_first(const Variable& g, const Variable& a, const B& b) {
  return where(logical_and(a == 0, b <= 0), 0, xlogy(g, b));
}
struct XlogyRule {
  static constexpr char kName[] = "XlogyBackward0";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Variable a(const Variable& g, const Kept& k) const { return xlogy_first(g, k.a, k.b); }
  Variable b(const Variable& g, const Kept& k) const { return g * k.a / k.b; }
};
struct XlogyScalarSelfRule {
  static constexpr char kName[] = "XlogyBackward1";
  static constexpr Keep kKeep = Keep::input;
  Scalar self;
  Variable operator()(const Variable& g, const Variable& b) const { return g * self / b; }
};
struct XlogyScalarOtherRule {
  static constexpr char kName[] = "XlogyBackward2";
  static constexpr Keep kKeep = Keep::input;
  Scalar other;
  Variable operator()(const Variable& g, const Variable& a) const {
    const Variable slope = xlogy(g, other);
    return other.to_double() > 0 ? slope : where(a == 0, 0, slope);
  }
};

Variable copysign_gradient(const Variable& g, const Variable& a, const Variable& out) {
  return g * where(a == 0, 0, out / a);
}
struct CopySignRule {
  static constexpr char kName[] = "CopysignBackward0";
  static constexpr unsigned kUsesA = kA | kOut, kUsesB = kNone;
  Variable a(const Variable& g, const Kept& k) const { return copysign_gradient(g, k.a, k.out); }
  Variable b(const Variable& g, const Kept&) const { return zeros_like(g); }
};
struct CopySignScalarRule {
  static constexpr char kName[] = "CopysignBackward1";
  static constexpr Keep kKeep = Keep::input;
  Scalar other;
  Variable operator()(const Variable& g, const Variable& a) const {
    return copysign_gradient(g, a, copysign(a, other));
  }
};

void check_floating(const char* op, const Variable& a, const Variable& b) {
  EBB_CHECK(is_floating(result_type(a, b)), op, ": expected a floating-point dtype, got ", a.dtype(), " and ",
            b.dtype(), ". Convert one with .to(kFloat).");
}

}  // namespace

Variable maximum(const Variable& self, const Variable& other) {
  return run_binary(self, other, Maximum(), MaximumRule());
}
Variable minimum(const Variable& self, const Variable& other) {
  return run_binary(self, other, Minimum(), MinimumRule());
}
Variable fmax(const Variable& self, const Variable& other) {
  return run_binary(self, other, Fmax(), FmaxRule());
}
Variable fmin(const Variable& self, const Variable& other) {
  return run_binary(self, other, Fmin(), FminRule());
}

Variable atan2(const Variable& self, const Variable& other) {
  return run_binary(self, other, Atan2(), Atan2Rule());
}
Variable& atan2_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, Atan2(), Atan2Rule());
}
Variable hypot(const Variable& self, const Variable& other) {
  check_floating("hypot", self, other);
  return run_binary(self, other, Hypot(), HypotRule());
}
Variable& hypot_(const Variable& self, const Variable& other) {
  check_floating("hypot_", self, other);
  return run_binary_inplace(self, other, Hypot(), HypotRule());
}
Variable logaddexp(const Variable& self, const Variable& other) {
  check_floating("logaddexp", self, other);
  return run_binary(self, other, LogAddExp(), LogAddExpRule());
}
Variable logaddexp2(const Variable& self, const Variable& other) {
  check_floating("logaddexp2", self, other);
  return run_binary(self, other, LogAddExp2(), LogAddExp2Rule());
}

Variable xlogy(const Variable& self, const Variable& other) {
  return run_binary(self, other, Xlogy(), XlogyRule());
}
Variable xlogy(const Variable& self, const Scalar& other) {
  return run_scalar(self, other, Xlogy(), XlogyScalarOtherRule{other});
}
Variable xlogy(const Scalar& self, const Variable& other) {
  Variable out(apply(Xlogy(), self, other));
  if (autograd::records(other)) record_unary(other, out, XlogyScalarSelfRule{self});
  return out;
}
Variable& xlogy_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, Xlogy(), XlogyRule());
}
Variable& xlogy_(const Variable& self, const Scalar& other) {
  return run_scalar_inplace(self, other, Xlogy(), XlogyScalarOtherRule{other});
}

Variable copysign(const Variable& self, const Variable& other) {
  return run_binary(self, other, CopySign(), CopySignRule());
}
Variable copysign(const Variable& self, const Scalar& other) {
  return run_scalar(self, other, CopySign(), CopySignScalarRule{other});
}
Variable& copysign_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, CopySign(), CopySignRule());
}
Variable& copysign_(const Variable& self, const Scalar& other) {
  return run_scalar_inplace(self, other, CopySign(), CopySignScalarRule{other});
}

Variable ldexp(const Variable& self, const Variable& other) { return mul(self, pow(2.0, other)); }
Variable& ldexp_(const Variable& self, const Variable& other) { return mul_(self, pow(2.0, other)); }

Variable heaviside(const Variable& self, const Variable& other) {
  check_same_dtype("heaviside", self, other);
  Variable out(apply(Heaviside(), self, other));
  if (autograd::records(self, other) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<NoDerivativeNode<Heaviside>>(self, other));
  return out;
}
Variable& heaviside_(const Variable& self, const Variable& other) {
  check_same_dtype("heaviside_", self, other);
  return run_flat_inplace(Heaviside(), self, other);
}

}  // namespace ebb
