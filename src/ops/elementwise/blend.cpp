// lerp, addcmul, addcdiv.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/math_binary.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

struct LerpScalarRule {
  static constexpr char kName[] = "LerpBackward0";
  static constexpr unsigned kUses[3] = {kNone, kNone, kNone};
  Scalar weight;
  Variable grad(int operand, const Variable& g, const Kept&) const {
    return operand == 0 ? g * (1 - weight.to_double()) : g * weight;
  }
};
struct LerpRule {
  static constexpr char kName[] = "LerpBackward1";
  static constexpr unsigned kUses[3] = {kC, kC, kA | kB};
  Variable grad(int operand, const Variable& g, const Kept& k) const {
    return operand == 0 ? g * (1 - k.c) : operand == 1 ? g * k.c : g * (k.b - k.a);
  }
};
struct AddCMulRule {
  static constexpr char kName[] = "AddcmulBackward0";
  static constexpr unsigned kUses[3] = {kNone, kC, kB};
  Scalar value;
  Variable grad(int operand, const Variable& g, const Kept& k) const {
    return operand == 0 ? g : g * ((operand == 1 ? k.c : k.b) * value);
  }
};
struct AddCDivRule {
  static constexpr char kName[] = "AddcdivBackward0";
  static constexpr unsigned kUses[3] = {kNone, kC, kB | kC};
  Scalar value;
  Variable grad(int operand, const Variable& g, const Kept& k) const {
    if (operand == 0) return g;
    return operand == 1 ? g * (value / k.c) : neg(g) * ((k.b * value) / (k.c * k.c));
  }
};

void check_lerp(const char* op, const Variable& self, const Variable& end) {
  EBB_CHECK(self.dtype() == end.dtype(), op, ": expected dtype ", self.dtype(), " for `end` but got dtype ",
            end.dtype(), ". Convert it with .to(dtype).");
  EBB_CHECK(is_floating(self.dtype()), op, ": expected a floating-point dtype, got ", self.dtype(), ".");
}
void check_lerp(const char* op, const Variable& self, const Variable& end, const Variable& weight) {
  check_lerp(op, self, end);
  EBB_CHECK(self.dtype() == weight.dtype(), op, ": expected dtype ", self.dtype(),
            " for `weight` but got dtype ", weight.dtype(), ". Convert it with .to(dtype).");
}
void check_addcdiv(const char* op, const Variable& a, const Variable& b) {
  EBB_CHECK(is_floating(a.dtype()) || is_floating(b.dtype()), op,
            ": Integer division with addcdiv is not supported; use div(..., \"trunc\") or convert to a "
            "floating dtype.");
}

}  // namespace

Variable lerp(const Variable& self, const Variable& end, const Scalar& weight) {
  check_lerp("lerp", self, end);
  return run_ternary(self, end, weight, Lerp(), LerpScalarRule{weight});
}
Variable lerp(const Variable& self, const Variable& end, const Variable& weight) {
  check_lerp("lerp", self, end, weight);
  return run_ternary(self, end, weight, Lerp(), LerpRule());
}
Variable& lerp_(const Variable& self, const Variable& end, const Scalar& weight) {
  check_lerp("lerp_", self, end);
  return run_ternary_inplace(self, end, weight, Lerp(), LerpScalarRule{weight});
}
Variable& lerp_(const Variable& self, const Variable& end, const Variable& weight) {
  check_lerp("lerp_", self, end, weight);
  return run_ternary_inplace(self, end, weight, Lerp(), LerpRule());
}

Variable addcmul(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                 const Scalar& value) {
  return run_ternary(self, tensor1, tensor2, AddCMul{value}, AddCMulRule{value});
}
Variable& addcmul_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                   const Scalar& value) {
  return run_ternary_inplace(self, tensor1, tensor2, AddCMul{value}, AddCMulRule{value});
}
Variable addcdiv(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                 const Scalar& value) {
  check_addcdiv("addcdiv", tensor1, tensor2);
  return run_ternary(self, tensor1, tensor2, AddCDiv{value}, AddCDivRule{value});
}
Variable& addcdiv_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                   const Scalar& value) {
  check_addcdiv("addcdiv_", tensor1, tensor2);
  return run_ternary_inplace(self, tensor1, tensor2, AddCDiv{value}, AddCDivRule{value});
}

}  // namespace ebb
