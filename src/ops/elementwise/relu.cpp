// Activations that cut: relu and its kind.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_activation.h"
#include "ops/elementwise/record.h"

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
  Variable operator()(const Variable& g, const Variable& y) const { return ThresholdGradRule::gradient(g, y, 0); }
};

}  // namespace

Variable relu(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool, "relu: Boolean inputs not supported for relu; convert the tensor first.");
  return run_unary(self, Relu(), ReluRule());
}
Variable& relu_(const Variable& self) {
  EBB_CHECK(self.dtype() != kBool, "relu_: Boolean inputs not supported for relu; convert the tensor first.");
  return run_unary_inplace(self, Relu(), ReluRule());
}

}  // namespace ebb
