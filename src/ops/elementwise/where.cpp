// where: elementwise selection between two tensors.
#include <ebb/core/warning.h>
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/formulas/ternary.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

// The gradient of the branch that was not taken is a selected zero. A multiplication by 0 would keep NaN.
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
            condition.defined() ? condition.dtype() : DType::Undefined, ". Compare it with something first.");
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

}  // namespace ebb
