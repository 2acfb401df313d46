// Piecewise linear activations: relu, threshold, hardtanh, leaky_relu, hardsigmoid, hardswish, shrinks.
#include "ops/elementwise/formulas/piecewise.h"

#include "ops/common/checks.h"
#include "ops/common/fused_activation.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

static void check_supported(const char* op, const Variable& x) {
  EBB_CHECK(x.dtype() != kBool, op, ": Boolean inputs not supported; convert the tensor first.");
}

// The dtype of hardtanh's limits: integer tensors are compared with limits of 64 bits.
static DType limits_dtype(const Variable& x) { return is_integral(x.dtype()) ? kLong : x.dtype(); }

static void check_ends(const char* op, DType dtype, const Scalar& a, const Scalar& b) {
  check_fits(op, a, dtype);
  check_fits(op, b, dtype);
}

Variable relu(const Variable& self) {
  check_supported("relu", self);
  return unary<Relu>(self);
}
Variable ops::recorded_relu(const Variable& self, NdArray result) {
  Variable out(std::move(result));
  if (autograd::records(self)) record_unary(self, out, FormulaRule<Relu>{});
  return out;
}
Variable& relu_(const Variable& self) {
  check_supported("relu_", self);
  return unary_inplace<Relu>(self);
}
Variable threshold(const Variable& self, const Scalar& threshold, const Scalar& value) {
  check_ends("threshold", self.dtype(), threshold, value);
  return unary(self, Threshold{{}, threshold, value});
}
Variable& threshold_(const Variable& self, const Scalar& threshold, const Scalar& value) {
  check_ends("threshold_", self.dtype(), threshold, value);
  return unary_inplace(self, Threshold{{}, threshold, value});
}
Variable hardtanh(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_supported("hardtanh", self);
  check_ends("hardtanh", limits_dtype(self), min_val, max_val);
  return unary(self, Hardtanh{{}, min_val, max_val});
}
Variable& hardtanh_(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_supported("hardtanh_", self);
  check_ends("hardtanh_", limits_dtype(self), min_val, max_val);
  return unary_inplace(self, Hardtanh{{}, min_val, max_val});
}
Variable relu6(const Variable& self) { return hardtanh(self, 0, 6); }
Variable& relu6_(const Variable& self) { return hardtanh_(self, 0, 6); }
Variable leaky_relu(const Variable& self, const Scalar& negative_slope) {
  return unary(self, LeakyRelu{{}, negative_slope.to_double()});
}
Variable& leaky_relu_(const Variable& self, const Scalar& negative_slope) {
  return unary_inplace(self, LeakyRelu{{}, negative_slope.to_double()});
}
Variable hardsigmoid(const Variable& self) { return unary<Hardsigmoid>(self); }
Variable& hardsigmoid_(const Variable& self) { return unary_inplace<Hardsigmoid>(self); }
Variable hardswish(const Variable& self) { return unary<Hardswish>(self); }
Variable& hardswish_(const Variable& self) { return unary_inplace<Hardswish>(self); }
Variable hardshrink(const Variable& self, const Scalar& lambd) {
  return unary(self, Hardshrink{{}, lambd.to_double()});
}
Variable softshrink(const Variable& self, const Scalar& lambd) {
  const double most = largest_of(self.dtype());
  EBB_CHECK(lambd.to_double() >= 0 && lambd.to_double() <= most, "softshrink: lambda must be in range [0, ",
            most, "] for input dtype ", self.dtype(), ", but found ", lambd, ".");
  return unary(self, Softshrink{{}, lambd.to_double()});
}

}  // namespace ebb
