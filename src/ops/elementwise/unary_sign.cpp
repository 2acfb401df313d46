// Signs, absolute values, rounding, and replacing what is not a number.
#include <ebb/ops/elementwise.h>

#include <cmath>
#include <limits>

#include "ops/elementwise/math_unary.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

struct AbsRule {
  static constexpr char kName[] = "AbsBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * sgn(x); }
};
struct NegRule {
  static constexpr char kName[] = "NegBackward0";
  static constexpr Keep kKeep = Keep::nothing;
  Variable operator()(const Variable& g) const { return neg(g); }
};
struct FracRule {
  static constexpr char kName[] = "FracBackward0";
  static constexpr Keep kKeep = Keep::nothing;
  Variable operator()(const Variable& g) const { return g; }
};
struct NanToNumRule {
  static constexpr char kName[] = "NanToNumBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return where(isfinite(x), g, 0); }
};
template <int to_radians>
struct AngleRule {
  static constexpr const char* kName = to_radians ? "Deg2RadBackward0" : "Rad2DegBackward0";
  static constexpr Keep kKeep = Keep::nothing;
  Variable operator()(const Variable& g) const { return g * factor; }
  static constexpr double factor = to_radians ? 0.01745329251994329576924 : 57.2957795130823208767982;
};

void check_not_bool(const char* op, const Variable& x) {
  EBB_CHECK(x.dtype() != kBool, op,
            ": the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` "
            "or `logical_not()` operator instead.");
}

struct Sgn : Sign {
  static constexpr char kName[] = "sgn";
};

RoundDecimals decimals_op(std::int64_t decimals) {
  return {std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals)), decimals < 0};
}

NanToNum nan_op(DType dtype, optional<double> nan, optional<double> posinf, optional<double> neginf) {
  double largest = std::numeric_limits<double>::max();
  if (dtype == kFloat) largest = std::numeric_limits<float>::max();
  if (dtype == kHalf) largest = 65504;
  if (dtype == kBFloat16) largest = 3.3895313892515355e38;
  return {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
}

}  // namespace

Variable abs(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool, "abs: not defined for Bool; convert the tensor first.");
  return run_unary(self, Abs(), AbsRule());
}
Variable& abs_(const Variable& self) { return run_unary_inplace(self, Abs(), AbsRule()); }
Variable neg(const Variable& self) {
  check_not_bool("neg: Negation", self);
  return run_unary(self, Neg(), NegRule());
}
Variable& neg_(const Variable& self) {
  check_not_bool("neg_: Negation", self);
  return run_unary_inplace(self, Neg(), NegRule());
}
Variable positive(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool,
            "positive: the `+` operator is not defined for Bool; convert the tensor first.");
  return self;
}
Variable sign(const Variable& self) { return run_flat<Sign>(self); }
Variable& sign_(const Variable& self) { return run_flat_inplace(Sign(), self); }
Variable sgn(const Variable& self) {
  Variable out(apply(Sign(), self));
  if (autograd::records(self) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<ZeroNode<Sgn>>(self));
  return out;
}
Variable& sgn_(const Variable& self) { return run_flat_inplace(Sign(), self); }

Variable floor(const Variable& self) { return run_flat<Floor>(self); }
Variable& floor_(const Variable& self) { return run_flat_inplace(Floor(), self); }
Variable ceil(const Variable& self) { return run_flat<Ceil>(self); }
Variable& ceil_(const Variable& self) { return run_flat_inplace(Ceil(), self); }
Variable round(const Variable& self) { return run_flat<Round>(self); }
Variable& round_(const Variable& self) { return run_flat_inplace(Round(), self); }
Variable round(const Variable& self, std::int64_t decimals) {
  return decimals ? run_flat(self, decimals_op(decimals)) : round(self);
}
Variable& round_(const Variable& self, std::int64_t decimals) {
  return decimals ? run_flat_inplace(decimals_op(decimals), self) : round_(self);
}
Variable trunc(const Variable& self) { return run_flat<Trunc>(self); }
Variable& trunc_(const Variable& self) { return run_flat_inplace(Trunc(), self); }
Variable frac(const Variable& self) { return run_unary(self, Frac(), FracRule()); }
Variable& frac_(const Variable& self) { return run_unary_inplace(self, Frac(), FracRule()); }

Variable nan_to_num(const Variable& self, optional<double> nan, optional<double> posinf,
                    optional<double> neginf) {
  return run_unary(self, nan_op(self.dtype(), nan, posinf, neginf), NanToNumRule());
}
Variable& nan_to_num_(const Variable& self, optional<double> nan, optional<double> posinf,
                      optional<double> neginf) {
  return run_unary_inplace(self, nan_op(self.dtype(), nan, posinf, neginf), NanToNumRule());
}

Variable deg2rad(const Variable& self) {
  return run_scalar(self, AngleRule<1>::factor, Mul(), AngleRule<1>());
}
Variable& deg2rad_(const Variable& self) {
  return run_scalar_inplace(self, AngleRule<1>::factor, Mul(), AngleRule<1>());
}
Variable rad2deg(const Variable& self) {
  return run_scalar(self, AngleRule<0>::factor, Mul(), AngleRule<0>());
}
Variable& rad2deg_(const Variable& self) {
  return run_scalar_inplace(self, AngleRule<0>::factor, Mul(), AngleRule<0>());
}

}  // namespace ebb
