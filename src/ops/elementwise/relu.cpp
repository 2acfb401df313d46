// Activations made of straight pieces.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/activation.h"

namespace ebb {
namespace {

using namespace ops;

// Passes the gradient where x > threshold; linear in the gradient, so its own node is itself.
struct ThresholdGradRule {
  static constexpr char kName[] = "ThresholdBackwardBackward0";
  static constexpr unsigned kUsesA = kB, kUsesB = kNone;
  Scalar threshold;
  static Variable gradient(const Variable& g, const Variable& x, const Scalar& threshold) {
    return run_binary(g, x, ThresholdGrad{threshold}, ThresholdGradRule{threshold});
  }
  Variable a(const Variable& gg, const Kept& k) const { return gradient(gg, k.b, threshold); }
  Variable b(const Variable& gg, const Kept&) const { return zeros_like(gg); }
};

struct ReluRule {
  static constexpr char kName[] = "ReluBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const {
    return ThresholdGradRule::gradient(g, y, 0);
  }
};
struct ThresholdRule {
  static constexpr char kName[] = "ThresholdBackward0";
  static constexpr Keep kKeep = Keep::input;
  Scalar threshold;
  Variable operator()(const Variable& g, const Variable& x) const {
    return ThresholdGradRule::gradient(g, x, threshold);
  }
};
struct HardtanhRule {
  static constexpr char kName[] = "HardtanhBackward0";
  static constexpr Keep kKeep = Keep::input;
  HardtanhSlope slope;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, slope,
                          [&] { return where(logical_or(x <= slope.low, x >= slope.high), 0, g); });
  }
};
struct LeakyReluRule {
  static constexpr char kName[] = "LeakyReluBackward0";
  static constexpr Keep kKeep = Keep::input;
  LeakyReluSlope slope;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, slope, [&] { return where(x > 0, g, g * slope.slope); });
  }
};
struct HardsigmoidRule {
  static constexpr char kName[] = "HardsigmoidBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, HardsigmoidSlope(),
                          [&] { return where(logical_and(x > -3, x < 3), g * (1.0 / 6), 0); });
  }
};
struct HardswishRule {
  static constexpr char kName[] = "HardswishBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, HardswishSlope(), [&] {
      return where(x < -3, 0,
                   where(x < 3, g * (hardtanh(x, -3, 3) / 3 + 0.5), g));  // its slope ends at the bounds
    });
  }
};
template <bool soft>
struct ShrinkRule {
  static constexpr const char* kName = soft ? "SoftshrinkBackward0" : "HardshrinkBackward0";
  static constexpr Keep kKeep = Keep::input;
  ShrinkSlope slope;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, slope,
                          [&] { return where(logical_and(x >= -slope.lambda, x <= slope.lambda), 0, g); });
  }
};

void check_not_bool(const char* op, const Variable& x) {
  EBB_CHECK(x.dtype() != kBool, op, ": Boolean inputs not supported; convert the tensor first.");
}
// Bounds are given in the tensor's own dtype: integers stay integers.
Hardtanh hardtanh_op(const Scalar& low, const Scalar& high) { return {low, high}; }
HardtanhRule hardtanh_rule(const Scalar& low, const Scalar& high) {
  return {{low.to_double(), high.to_double()}};
}

}  // namespace

Variable relu(const Variable& self) {
  check_not_bool("relu", self);
  return run_unary(self, Relu(), ReluRule());
}
Variable& relu_(const Variable& self) {
  check_not_bool("relu_", self);
  return run_unary_inplace(self, Relu(), ReluRule());
}
Variable threshold(const Variable& self, const Scalar& threshold, const Scalar& value) {
  return run_unary(self, Threshold{threshold, value}, ThresholdRule{threshold});
}
Variable& threshold_(const Variable& self, const Scalar& threshold, const Scalar& value) {
  return run_unary_inplace(self, Threshold{threshold, value}, ThresholdRule{threshold});
}
Variable hardtanh(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_not_bool("hardtanh", self);
  return run_unary(self, hardtanh_op(min_val, max_val), hardtanh_rule(min_val, max_val));
}
Variable& hardtanh_(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_not_bool("hardtanh_", self);
  return run_unary_inplace(self, hardtanh_op(min_val, max_val), hardtanh_rule(min_val, max_val));
}
Variable relu6(const Variable& self) { return hardtanh(self, 0, 6); }
Variable& relu6_(const Variable& self) { return hardtanh_(self, 0, 6); }
Variable leaky_relu(const Variable& self, const Scalar& negative_slope) {
  const double slope = negative_slope.to_double();
  return run_unary(self, LeakyRelu{slope}, LeakyReluRule{{slope}});
}
Variable& leaky_relu_(const Variable& self, const Scalar& negative_slope) {
  const double slope = negative_slope.to_double();
  return run_unary_inplace(self, LeakyRelu{slope}, LeakyReluRule{{slope}});
}
Variable hardsigmoid(const Variable& self) { return run_unary(self, Hardsigmoid(), HardsigmoidRule()); }
Variable& hardsigmoid_(const Variable& self) {
  return run_unary_inplace(self, Hardsigmoid(), HardsigmoidRule());
}
Variable hardswish(const Variable& self) { return run_unary(self, Hardswish(), HardswishRule()); }
Variable& hardswish_(const Variable& self) { return run_unary_inplace(self, Hardswish(), HardswishRule()); }
Variable hardshrink(const Variable& self, const Scalar& lambd) {
  return run_unary(self, Hardshrink{lambd.to_double()}, ShrinkRule<false>{{lambd.to_double()}});
}
Variable softshrink(const Variable& self, const Scalar& lambd) {
  EBB_CHECK(lambd.to_double() >= 0, "softshrink: lambda must be greater or equal to 0, but found to be ",
            lambd, ".");
  return run_unary(self, Softshrink{lambd.to_double()}, ShrinkRule<true>{{lambd.to_double()}});
}

}  // namespace ebb
