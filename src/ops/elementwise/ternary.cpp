// where: elementwise selection between two tensors; lerp, addcmul and addcdiv.
#include "ops/elementwise/formulas/ternary.h"

#include <ebb/core/warning.h>
#include <ebb/ops/elementwise.h>

#include "ops/common/autocast.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

// The node of where. For the branch that was not taken, where() selects a zero as the gradient, because a
// multiplication by 0 would keep NaN.
struct WhereNode final : autograd::Node {
  autograd::SavedVariable condition{this};

  std::string name() const override { return "WhereBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable chosen = condition.unpack();
    autograd::GradList out;
    if (needs(0))
      out.push_back(where(chosen, grads[0], 0));
    else
      out.emplace_back();
    if (needs(1))
      out.push_back(where(chosen, 0, grads[0]));
    else
      out.emplace_back();
    return out;
  }
};

template <class A, class B>
Variable run_where(const Variable& condition, const A& a, const B& b) {
  EBB_CHECK(condition.defined() && (condition.dtype() == kBool || condition.dtype() == kByte),
            "where: expected condition to be a boolean tensor, but got a tensor with dtype ",
            condition.defined() ? condition.dtype() : DType::Undefined,
            ". Pass a comparison, for example condition != 0.");
  if (condition.dtype() == kByte)
    warn(
        "where: a condition of dtype torch.uint8 is now deprecated. Write `condition != 0`, which is of "
        "dtype Bool.");
  Variable out(apply(Where(), operand(condition), operand(a), operand(b)));
  bool recording = false;
  if constexpr (std::is_same_v<A, Variable>) recording = autograd::records(a);
  if constexpr (std::is_same_v<B, Variable>) recording = recording || autograd::records(b);
  if (recording && is_floating(out.dtype())) {
    auto node = autograd::make_node<WhereNode>(edge_of(a), edge_of(b));
    node->condition.save(condition);
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace

Variable where(const Variable& condition, const Variable& self, const Variable& other) {
  return run_where(condition, self, other);
}
Variable where(const Variable& condition, const Variable& self, const Scalar& other) {
  return run_where(condition, self, other);
}
Variable where(const Variable& condition, const Scalar& self, const Variable& other) {
  return run_where(condition, self, other);
}
Variable where(const Variable& condition, const Scalar& self, const Scalar& other) {
  return run_where(condition, self, other);
}

namespace {

struct LerpScalarRule {
  static constexpr char kName[] = "LerpBackward0";
  static constexpr unsigned kUses[3] = {kNone, kNone, kNone};
  Scalar weight;
  Variable grad(int operand, const Variable& g, const SavedValues<Variable>&) const {
    return operand == 0 ? g * (1 - weight.to_double()) : g * weight;
  }
};
void check_lerp(const char* op, const Variable& self, const Variable& end) {
  EBB_CHECK(self.dtype() == end.dtype(), op, ": expected dtype ", self.dtype(), " for `end` but got dtype ",
            end.dtype(), ". Convert it with .to(dtype).");
  EBB_CHECK(is_floating(self.dtype()), op, ": expected a floating-point dtype, got ", self.dtype(), ".");
}
// Returns the weight in the dtype of self. A tensor without dimensions may have another dtype, like a scalar.
Variable lerp_weight(const char* op, const Variable& self, const Variable& end, const Variable& weight) {
  check_lerp(op, self, end);
  EBB_CHECK(self.dtype() == weight.dtype() || weight.dim() == 0, op, ": expected dtype ", self.dtype(),
            " for `weight` but got dtype ", weight.dtype(), ". Convert it with .to(dtype).");
  return weight.to(self.dtype());
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
  return ternary<Lerp>(self, end, lerp_weight("lerp", self, end, weight));
}
Variable& lerp_(const Variable& self, const Variable& end, const Scalar& weight) {
  check_lerp("lerp_", self, end);
  return run_ternary_inplace(self, end, weight, Lerp(), LerpScalarRule{weight});
}
Variable& lerp_(const Variable& self, const Variable& end, const Variable& weight) {
  return ternary_inplace<Lerp>(self, end, lerp_weight("lerp_", self, end, weight));
}

Variable addcmul(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                 const Scalar& value) {
  EBB_AUTOCAST(addcmul, self, tensor1, tensor2, value);
  return ternary(self, tensor1, tensor2, AddCMul{{}, value});
}
Variable& addcmul_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                   const Scalar& value) {
  return ternary_inplace(self, tensor1, tensor2, AddCMul{{}, value});
}
Variable addcdiv(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                 const Scalar& value) {
  EBB_AUTOCAST(addcdiv, self, tensor1, tensor2, value);
  check_addcdiv("addcdiv", tensor1, tensor2);
  return ternary(self, tensor1, tensor2, AddCDiv{{}, value});
}
Variable& addcdiv_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                   const Scalar& value) {
  check_addcdiv("addcdiv_", tensor1, tensor2);
  return ternary_inplace(self, tensor1, tensor2, AddCDiv{{}, value});
}

}  // namespace ebb
