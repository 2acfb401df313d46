// Extremes, angles, and sums of logarithms of two tensors.
#include <ebb/ops/elementwise.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/elementwise/formulas/binary_math.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

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
  Variable a(const Variable& g, const Kept<Variable>& k) const { return copysign_gradient(g, k.a, k.out); }
  Variable b(const Variable& g, const Kept<Variable>&) const { return zeros_like(g); }
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

Variable maximum(const Variable& self, const Variable& other) { return binary<Maximum>(self, other); }
Variable minimum(const Variable& self, const Variable& other) { return binary<Minimum>(self, other); }
Variable fmax(const Variable& self, const Variable& other) { return binary<Fmax>(self, other); }
Variable fmin(const Variable& self, const Variable& other) { return binary<Fmin>(self, other); }

Variable atan2(const Variable& self, const Variable& other) {
  if (const auto cast = ops::autocast("atan2", self, other)) [[unlikely]]
    return atan2(cast(self), cast(other));
  return binary<Atan2>(self, other);
}
Variable& atan2_(const Variable& self, const Variable& other) { return binary_inplace<Atan2>(self, other); }
Variable hypot(const Variable& self, const Variable& other) {
  check_floating("hypot", self, other);
  return binary<Hypot>(self, other);
}
Variable& hypot_(const Variable& self, const Variable& other) {
  check_floating("hypot_", self, other);
  return binary_inplace<Hypot>(self, other);
}
Variable logaddexp(const Variable& self, const Variable& other) {
  check_floating("logaddexp", self, other);
  return binary<LogAddExp>(self, other);
}
Variable logaddexp2(const Variable& self, const Variable& other) {
  check_floating("logaddexp2", self, other);
  return binary<LogAddExp2>(self, other);
}

Variable xlogy(const Variable& self, const Variable& other) { return binary<Xlogy>(self, other); }
Variable xlogy(const Variable& self, const Scalar& other) {
  return run_unary(self, Xlogy(), XlogyScalarOtherRule{other}, other);
}
Variable xlogy(const Scalar& self, const Variable& other) {
  Variable out(apply(Xlogy(), self, other));
  if (autograd::records(other)) record_unary(other, out, XlogyScalarSelfRule{self});
  return out;
}
Variable& xlogy_(const Variable& self, const Variable& other) { return binary_inplace<Xlogy>(self, other); }
Variable& xlogy_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, Xlogy(), XlogyScalarOtherRule{other}, other);
}

Variable copysign(const Variable& self, const Variable& other) {
  return run_binary(self, other, CopySign(), CopySignRule());
}
Variable copysign(const Variable& self, const Scalar& other) {
  return run_unary(self, CopySign(), CopySignScalarRule{other}, other);
}
Variable& copysign_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, CopySign(), CopySignRule());
}
Variable& copysign_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, CopySign(), CopySignScalarRule{other}, other);
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
